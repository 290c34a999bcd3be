// A gateway on a platform of its own, in a fresh schema of DATABASE_URL or of an embedded server in a temporary folder.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestPlatform, TestPlatformOptions } from "tuntas/testing";
import { testPlatform } from "tuntas/testing";
import type { Gateway } from "./index.ts";
import { startGateway } from "./index.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON, or undefined. */
  readonly json: any;
}

export interface TestGateway extends AsyncDisposable {
  readonly url: string;
  readonly gateway: Gateway;
  readonly kit: TestPlatform;
  http(path: string, init?: RequestInit): Promise<Answer>;
  /** One call of AWS JSON 1.0. */
  call(operation: string, input: unknown, init?: RequestInit): Promise<Answer>;
  /** Creates a queue and answers its URL. */
  createQueue(name: string, attributes?: Record<string, string>): Promise<string>;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export async function startTestGateway(options: TestPlatformOptions = {}): Promise<TestGateway> {
  const dataDir = await mkdtemp(join(tmpdir(), "tuntas-gateway-"));
  const kit = await testPlatform({ dataDir, ...options });
  const gateway = await startGateway({ platform: kit.platform, port: 0 });
  const url = `http://127.0.0.1:${gateway.port}`;

  async function http(path: string, init: RequestInit = {}): Promise<Answer> {
    const response = await fetch(url + path, init);
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: parse(text) };
  }

  const call = (operation: string, input: unknown, init: RequestInit = {}) =>
    http("/", {
      method: "POST",
      body:
        typeof input === "string" || input instanceof Uint8Array
          ? (input as NonNullable<RequestInit["body"]>)
          : JSON.stringify(input),
      ...init,
      headers: {
        "x-amz-target": `AmazonSQS.${operation}`,
        "content-type": "application/x-amz-json-1.0",
        ...(init.headers as Record<string, string>),
      },
    });

  return {
    url,
    gateway,
    kit,
    http,
    call,
    async createQueue(name, attributes = {}) {
      const { json } = await call("CreateQueue", { QueueName: name, Attributes: attributes });
      return (json as { QueueUrl: string }).QueueUrl;
    },
    async [Symbol.asyncDispose]() {
      await gateway.close();
      await kit[Symbol.asyncDispose]();
      await rm(dataDir, { recursive: true, force: true, maxRetries: 20 });
    },
  };
}
