// Batches: their handlers are held to the rules of workers, and what they make goes to the staging table.
import type { BatchDefinition } from "../../batch/contract.ts";
import { worker, type WorkerDefinition } from "../../queue/declaration.ts";
import { isQuery, isWrite, readHandler } from "../calls.ts";
import type { Declared, Sighting } from "../contract.ts";
import { textOf } from "../syntax.ts";
import { inWords } from "../words.ts";
import { looksAtNothing } from "./backfills.ts";

/** What works on the partitions, as a worker: with the batch's own attempts, and the partition's key. */
export function workerOf({ queue, options, place }: BatchDefinition): WorkerDefinition {
  const { timeout, retry, concurrency, handle } = options;
  const deadLetter = { ...queue.options.deadLetter, after: retry.attempts };
  const of = { ...queue, options: { ...queue.options, deadLetter } };
  const idempotencyKey = (partition: any) => partition.key as string;
  // Of a batch it is the limit of all processes together; one that works on a partition at a time means it.
  const bounds = concurrency > 1 ? { concurrency, globalConcurrency: concurrency } : {};
  return { ...worker(of, { idempotencyKey, timeout, handle: handle as () => unknown, ...bounds }), place };
}

const changing =
  /\b(?:insert\s+into|update(?:\s+only)?|delete\s+from|merge\s+into|truncate(?:\s+table)?)\s+([a-z_][\w.]*)/gi;

function unstaged({ name, options, place }: BatchDefinition): Sighting[] {
  const calls = (readHandler(options.handle)?.calls ?? []).filter((call) => isQuery(call) || isWrite(call));
  const tables = calls
    .flatMap((call) => [...textOf(call.arguments[0]).matchAll(changing)])
    .map(([, table]) => table!.toLowerCase())
    .filter((table) => table !== options.staging.table && table !== "set");
  return [...new Set(tables)].map((table) => ({
    rule: "unstaged-output",
    name,
    place,
    message: `${name}: the handler writes to ${table}, and its staging table is ${options.staging.table}`,
  }));
}

function unvalidated({ name, options, place }: BatchDefinition): Sighting[] {
  if (!looksAtNothing(options.validate)) return [];
  return [{ rule: "unverified-output", name, place, message: `${name}: \`validate\` looks at nothing` }];
}

/** Three of each third, so that one bad night is no trend. */
const runsMin = 9;
const growthMin = 1.5;
/** What is shorter than that hurts nobody, however it grows. */
const feltMs = 60_000;

const medianOf = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

/** The medians of the three thirds, where each is longer than the one before and they have grown by half. */
function trendOf(runsMs: readonly number[]): readonly number[] | undefined {
  if (runsMs.length < runsMin) return undefined;
  const third = Math.floor(runsMs.length / 3);
  const thirds = [runsMs.slice(0, third), runsMs.slice(third, -third), runsMs.slice(-third)];
  const [first, middle, last] = thirds.map(medianOf) as [number, number, number];
  const grows = first < middle && middle < last && last >= growthMin * first && last >= feltMs;
  return grows ? [first, middle, last] : undefined;
}

function growing({ name, place }: BatchDefinition, runsMs: readonly number[] = []): Sighting[] {
  const trend = trendOf(runsMs);
  if (!trend) return [];
  const message = `${name}: its last ${runsMs.length} jobs took longer and longer: ${trend.map(inWords).join(", then ")} (the median of each third)`;
  return [{ rule: "batch-grows", name, place, message }];
}

export const checkBatches = ({ batches, runsMs }: Declared): Sighting[] =>
  batches.flatMap((batch) => [
    ...unstaged(batch),
    ...unvalidated(batch),
    ...growing(batch, runsMs?.get(batch.name)),
  ]);
