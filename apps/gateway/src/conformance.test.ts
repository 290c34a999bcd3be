// The whole open SQS corpus, run by its own runner against a gateway on a real PostgreSQL. The slow scenarios wait for
// minutes of real time; `node conformance/sqs/run.mjs --slow` runs them by hand.
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { Agent, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { startTestGateway } from "./gateway.fixture.ts";
import { startGateway } from "./index.ts";

interface Result {
  readonly id: string;
  readonly result: "pass" | "fail" | "skip";
  readonly reason?: string;
}

const root = fileURLToPath(new URL("../../../", import.meta.url));

async function runCorpus(endpoint: string): Promise<Result[]> {
  const folder = await mkdtemp(join(tmpdir(), "tuntas-corpus-"));
  const file = join(folder, "results.json");
  try {
    await new Promise<void>((resolve) => {
      // A failing scenario makes the runner exit with 1; what counts is what it wrote.
      const args = ["conformance/sqs/run.mjs", "--endpoint", endpoint, "--json", file];
      execFile(process.execPath, args, { cwd: root, maxBuffer: 64 * 1024 * 1024 }, () => resolve());
    });
    return JSON.parse(await readFile(file, "utf8")) as Result[];
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 20 });
  }
}

/** Passes each request to the next of the servers in turn; it keeps connections as long as those do, so that none ends under a client. */
async function startRoundRobin(ports: readonly number[]) {
  const agent = new Agent({ keepAlive: true });
  let turn = 0;
  const server = createServer({ keepAliveTimeout: 75_000 }, (incoming, outgoing) => {
    const { url, method, headers } = incoming;
    const port = ports[turn++ % ports.length];
    const onward = request({ host: "127.0.0.1", port, path: url, method, headers, agent }, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on("error", () => outgoing.destroy());
    incoming.pipe(onward);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      agent.destroy();
      server.closeAllConnections();
      server.close();
    },
  };
}

function expectAllPassed(results: readonly Result[]): void {
  const failed = results.filter(({ result }) => result === "fail");
  expect(failed.map(({ id, reason }) => `${id}: ${reason}`)).toEqual([]);
  expect(results.filter(({ result }) => result === "pass").length).toBeGreaterThanOrEqual(287);
}

test(
  "every scenario of the SQS corpus passes over AWS JSON 1.0 and the Query protocol",
  { timeout: 300_000 },
  async () => {
    await using gateway = await startTestGateway();
    expectAllPassed(await runCorpus(gateway.url));
  },
);

test(
  "and does so when each request meets another of two processes on one database",
  { timeout: 300_000 },
  async () => {
    await using gateway = await startTestGateway();
    const second = await startGateway({ platform: await gateway.kit.another(), port: 0 });
    const both = await startRoundRobin([gateway.gateway.port, second.port]);
    expectAllPassed(await runCorpus(both.url));
    both.close();
    await second.close();
  },
);
