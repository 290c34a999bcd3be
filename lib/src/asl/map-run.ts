// The arithmetic of a map run: batches of items, how many failures are borne, and the files of its results.
import type { ChildResult, Json, JsonObject, ResultFile, Tolerance } from "./contract.ts";
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

interface Destination {
  readonly bucket: string;
  readonly folder: string;
  readonly mapRunArn: string;
  readonly config: JsonObject;
}

const fileNames = {
  SUCCEEDED: "SUCCEEDED_0.json",
  FAILED: "FAILED_0.json",
  PENDING: "PENDING_0.json",
} as const;
type FileKind = keyof typeof fileNames;

/** What a ResultWriter writes (a manifest and a file for each outcome), and what the state's result becomes. */
export function resultFiles(
  children: readonly ChildResult[],
  destination: Destination,
): { files: readonly ResultFile[]; output: Json } {
  const { bucket, folder, mapRunArn } = destination;
  const kinds: Record<FileKind, readonly ChildResult[]> = {
    SUCCEEDED: children.filter(({ status }) => status === "SUCCEEDED"),
    FAILED: children.filter(({ status }) => status !== "SUCCEEDED"),
    PENDING: [],
  };
  const files = (Object.keys(kinds) as FileKind[])
    .filter((kind) => kinds[kind].length > 0)
    .map((kind) => ({
      kind,
      key: `${folder}/${fileNames[kind]}`,
      body: JSON.stringify(kinds[kind].map(describeChild)),
    }));
  const listed = (wanted: FileKind) =>
    files.filter(({ kind }) => kind === wanted).map(({ key, body }) => ({ Key: key, Size: utf8Bytes(body) }));
  const manifest = {
    DestinationBucket: bucket,
    MapRunArn: mapRunArn,
    ResultFiles: { FAILED: listed("FAILED"), PENDING: listed("PENDING"), SUCCEEDED: listed("SUCCEEDED") },
  };
  const manifestKey = `${folder}/manifest.json`;
  return {
    files: [
      ...files.map(({ key, body }) => ({ key, body })),
      { key: manifestKey, body: JSON.stringify(manifest) },
    ],
    output: { MapRunArn: mapRunArn, ResultWriterDetails: { Bucket: bucket, Key: manifestKey } },
  };
}

function describeChild({ status, output, error, cause, executionArn, name }: ChildResult): Json {
  return {
    ...(executionArn === undefined ? {} : { ExecutionArn: executionArn }),
    ...(name === undefined ? {} : { Name: name }),
    ...(output === undefined ? {} : { Output: JSON.stringify(output), OutputDetails: { Included: true } }),
    ...(error === undefined ? {} : { Error: error }),
    ...(cause === undefined ? {} : { Cause: cause }),
    Status: status,
  };
}
