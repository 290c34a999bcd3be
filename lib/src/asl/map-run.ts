// The arithmetic of a map run: batches of items, and how many failures are borne.
import type { Json, JsonObject, Tolerance } from "./contract.ts";
import { limits, utf8Bytes } from "./limits.ts";

/** Whether so many failed children (of `total`) fail the run. An engine stops starting children as soon as this holds. */
export function exceedsTolerance(
  { failureCount, failurePercentage }: Tolerance,
  total: number,
  failed: number,
): boolean {
  if (failureCount === undefined && failurePercentage === undefined) return failed > 0;
  if (failureCount !== undefined && failed > failureCount) return true;
  return failurePercentage !== undefined && total > 0 && (failed / total) * 100 > failurePercentage;
}

export interface BatchSizes {
  readonly maxItems?: number;
  readonly maxBytes?: number;
}

/** What a child of a batched run gets. */
export interface Batch extends JsonObject {
  readonly Items: readonly Json[];
}

/** Children's inputs `{Items, BatchInput?}`, each as full as the sizes allow; a single item always fits. */
export function batches(
  items: readonly Json[],
  { maxItems, maxBytes }: BatchSizes,
  batchInput: Json | undefined,
): readonly Batch[] {
  const overhead = batchInput === undefined ? 12 : utf8Bytes(JSON.stringify(batchInput)) + 26;
  const byteMax = Math.min(maxBytes ?? limits.batchInputBytes, limits.batchInputBytes);
  const itemMax = maxItems ?? Number.POSITIVE_INFINITY;
  const all: Json[][] = [];
  let bytes = 0;
  for (const item of items) {
    const size = utf8Bytes(JSON.stringify(item)) + 1;
    const current = all.at(-1);
    if (!current || current.length >= itemMax || overhead + bytes + size > byteMax) {
      all.push([item]);
      bytes = size;
    } else {
      current.push(item);
      bytes += size;
    }
  }
  return all.map((batch) =>
    batchInput === undefined ? { Items: batch } : { BatchInput: batchInput, Items: batch },
  );
}
