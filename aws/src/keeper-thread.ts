// The thread that keeps messages hidden: looks now and then at what the process holds (memory that both share), extends
// what would come out soon, and gives back at once what was taken from a blocked event loop.
import { ChangeMessageVisibilityBatchCommand } from "@aws-sdk/client-sqs";
import { parentPort, workerData } from "node:worker_threads";
import { readHoldings, type Held } from "tuntas/queue/remote";
import { resultsOf } from "./batch.ts";
import { makeClient } from "./client.ts";
import type { KeeperData, KeeperOrder, KeeperReport } from "./keeper.ts";
import { batchMax, hiddenSeconds } from "./limits.ts";

interface Entry extends Held {
  readonly url: string;
  hiddenUntilMs: number;
}

const { slots, leaseMs, ...options } = workerData as KeeperData;
const client = makeClient(options);
const entries = new Map<string, Entry>();
// Three looks before it would come out: one that fails is made up for.
const lookMs = Math.max(200, leaseMs / 6);
const extendBelowMs = leaseMs / 2;

const now = (): number => performance.timeOrigin + performance.now();
const report = (message: string): void =>
  parentPort!.postMessage({ kind: "failed", message } satisfies KeeperReport);

/** One request: extends what is kept, lets go of what was taken back. */
async function change(url: string, batch: readonly Entry[], wantedMs: number): Promise<void> {
  const atMs = now();
  const seconds = batch.map((entry) => hiddenSeconds(wantedMs, atMs - entry.receivedAtMs));
  const command = new ChangeMessageVisibilityBatchCommand({
    QueueUrl: url,
    Entries: batch.map(({ receipt }, index) => ({
      Id: String(index),
      ReceiptHandle: receipt,
      VisibilityTimeout: seconds[index],
    })),
  });
  const results = resultsOf("extend", batch.length, await client.send(command));
  for (const [index, result] of results.entries()) {
    const entry = batch[index]!;
    if (!(result instanceof Error)) entry.hiddenUntilMs = atMs + seconds[index]! * 1000;
    // It was deleted meanwhile, or has come out: the fence tells whoever still works on it.
    else if ((result as { retryable?: boolean }).retryable !== true) entries.delete(entry.fence);
    else report(result.message);
  }
}

function* batches(all: readonly Entry[]): Generator<readonly [string, readonly Entry[]]> {
  for (const url of new Set(all.map((entry) => entry.url))) {
    const own = all.filter((entry) => entry.url === url);
    for (let next = 0; next < own.length; next += batchMax) yield [url, own.slice(next, next + batchMax)];
  }
}

const changeAll = (all: readonly Entry[], wantedMs: number) =>
  Promise.all(
    [...batches(all)].map(([url, batch]) =>
      change(url, batch, wantedMs).catch((cause: unknown) => report(String(cause))),
    ),
  );

async function look(): Promise<void> {
  if (entries.size === 0) return;
  const { kept, released } = readHoldings(slots);
  const all = [...entries.values()];
  const taken = all.filter(({ fence }) => released.has(fence));
  const due = all.filter(
    ({ fence, hiddenUntilMs }) => kept.has(fence) && hiddenUntilMs - now() < extendBelowMs,
  );
  for (const { fence } of taken) entries.delete(fence);
  await Promise.all([changeAll(taken, 0), changeAll(due, leaseMs)]);
}

function hold({ url, held }: Extract<KeeperOrder, { kind: "hold" }>): void {
  for (const each of held)
    entries.set(each.fence, { ...each, url, hiddenUntilMs: each.receivedAtMs + leaseMs });
}

let timer: NodeJS.Timeout;
async function beat(): Promise<void> {
  await look();
  timer = setTimeout(() => void beat(), lookMs);
}

parentPort!.on("message", (order: KeeperOrder) => {
  if (order.kind === "hold") hold(order);
  else if (order.kind === "drop") for (const fence of order.fences) entries.delete(fence);
  else {
    clearTimeout(timer);
    client.destroy();
    process.exit(0);
  }
});
timer = setTimeout(() => void beat(), lookMs);
