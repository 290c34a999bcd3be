// A way to Amazon SQS that fails as it does on a bad day: requests that are refused for their number, that never arrive,
// whose answers are lost, and batches of which one entry fails. In turn by count, so that each run meets all of them.
import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

type Fault = "none" | "throttled" | "lost before" | "lost after" | "one entry";
/** Of eight requests four go well. */
const turn: readonly Fault[] = [
  "none",
  "throttled",
  "none",
  "lost after",
  "none",
  "lost before",
  "none",
  "one entry",
];

interface Batch {
  Entries?: readonly { readonly Id: string }[];
}

export interface FaultyWay extends AsyncDisposable {
  readonly url: string;
  /** Requests meet no more faults. */
  heal(): void;
  readonly struck: ReadonlyMap<Fault, number>;
}

async function textOf(stream: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function pass(to: string, of: IncomingMessage, body: string): Promise<{ status: number; text: string }> {
  const headers = { ...of.headers, "content-length": String(Buffer.byteLength(body)) };
  return new Promise((resolve, reject) => {
    const passed = request(new URL(of.url ?? "/", to), { method: of.method, headers }, (answer) => {
      textOf(answer).then((text) => resolve({ status: answer.statusCode ?? 500, text }), reject);
    });
    passed.on("error", reject);
    passed.end(body);
  });
}

const json = { "content-type": "application/x-amz-json-1.0" };
const throttling = JSON.stringify({ __type: "com.amazon.coral.service#ThrottlingException", message: "Rate exceeded" });
const entryFault = { Code: "InternalError", Message: "out of order", SenderFault: false };

/** The first entry does not arrive, and is answered as failed. */
async function withoutOne(to: string, of: IncomingMessage, body: string): Promise<{ status: number; text: string }> {
  const { Entries = [], ...rest } = JSON.parse(body) as Batch;
  const [first, ...others] = Entries;
  const { text } =
    others.length > 0
      ? await pass(to, of, JSON.stringify({ ...rest, Entries: others }))
      : { text: JSON.stringify({ Successful: [], Failed: [] }) };
  const answer = JSON.parse(text) as { Failed?: object[] };
  const Failed = [...(answer.Failed ?? []), { Id: first!.Id, ...entryFault }];
  return { status: 200, text: JSON.stringify({ ...answer, Failed }) };
}

export async function openFaultyWay(to: string): Promise<FaultyWay> {
  const struck = new Map<Fault, number>();
  let [count, healed] = [0, false];

  function nextFault(of: IncomingMessage): Fault {
    const due = healed ? "none" : turn[count++ % turn.length]!;
    const fault = due === "one entry" && !String(of.headers["x-amz-target"]).endsWith("Batch") ? "none" : due;
    struck.set(fault, (struck.get(fault) ?? 0) + 1);
    return fault;
  }

  async function answer(of: IncomingMessage, response: ServerResponse): Promise<void> {
    const fault = nextFault(of);
    const body = await textOf(of);
    if (fault === "lost before") return void response.destroy();
    if (fault === "throttled") return void response.writeHead(400, json).end(throttling);
    const { status, text } = await (fault === "one entry" ? withoutOne(to, of, body) : pass(to, of, body));
    if (fault === "lost after") response.destroy();
    else response.writeHead(status, json).end(text);
  }

  const server = createServer((of, response) => void answer(of, response).catch(() => response.destroy()));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    heal: () => (healed = true),
    struck,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
