// What becomes of a map run's results: the list that a Map hands on, and the files that its ResultWriter writes.
import type { ChildResult, Json, JsonObject, PendingChild, ResultFile } from "../contract.ts";
import { utf8Bytes } from "../limits.ts";
import { formatTimestamp } from "../../core/timestamp.ts";

type Ended = Omit<ChildResult, "index">;

/** `stateMachine:Machine/Label` of `execution:Machine/Label:name`. */
const machineOf = (executionArn: string): string =>
  executionArn.split(":").slice(0, -1).join(":").replace(":execution:", ":stateMachine:");

function identityOf({ executionArn, name, input }: Partial<PendingChild>): JsonObject {
  return {
    ...(executionArn === undefined
      ? {}
      : { ExecutionArn: executionArn, StateMachineArn: machineOf(executionArn) }),
    ...(name === undefined ? {} : { Name: name }),
    ...(input === undefined ? {} : { Input: JSON.stringify(input), InputDetails: { Included: true } }),
  };
}

const redriveOf = ({ status, redriveCount }: Ended): JsonObject => {
  if (redriveCount === undefined) return {};
  if (status !== "SUCCEEDED") return { RedriveCount: redriveCount, RedriveStatus: "REDRIVABLE_BY_MAP_RUN" };
  const RedriveStatusReason = "Execution is SUCCEEDED and cannot be redriven";
  return { RedriveCount: redriveCount, RedriveStatus: "NOT_REDRIVABLE", RedriveStatusReason };
};

/** All that is known of the child's execution. */
function describe(child: Ended): JsonObject {
  const { status, output, error, cause, startMs, stopMs } = child;
  return {
    ...identityOf(child),
    ...(output === undefined ? {} : { Output: JSON.stringify(output), OutputDetails: { Included: true } }),
    ...(error === undefined ? {} : { Error: error }),
    ...(cause === undefined ? {} : { Cause: cause }),
    ...redriveOf(child),
    ...(startMs === undefined ? {} : { StartDate: formatTimestamp(startMs) }),
    ...(stopMs === undefined ? {} : { StopDate: formatTimestamp(stopMs) }),
    Status: status,
  };
}

const describePending = (child: PendingChild): JsonObject => ({ ...identityOf(child), Status: "PENDING" });

/**
 * The results as `WriterConfig.Transformation` says. NONE describes the executions, COMPACT gives their outputs, FLATTEN the
 * items of those that are lists. A child that failed is described whatever it says.
 */
export function transformed(children: readonly Ended[], transformation: Json | undefined): readonly Json[] {
  return children.flatMap((child): readonly Json[] => {
    if (transformation === "NONE" || child.status !== "SUCCEEDED") return [describe(child)];
    const output = child.output ?? null;
    return transformation === "FLATTEN" && Array.isArray(output) ? (output as readonly Json[]) : [output];
  });
}

const lines = (entries: readonly Json[]): string => entries.map((each) => JSON.stringify(each)).join("\n");

/** What a Map without an S3 location hands on. */
export function previewed(children: readonly Ended[], config: JsonObject): Json {
  const entries = transformed(children, config.Transformation ?? "COMPACT");
  return config.OutputType === "JSONL" ? lines(entries) : entries;
}

export interface Destination {
  readonly bucket: string;
  readonly folder: string;
  readonly mapRunArn: string;
  readonly config: JsonObject;
}

/** What a ResultWriter writes (a manifest and a file for each outcome), and what the state's result becomes. */
export function resultFiles(
  children: readonly Ended[],
  pending: readonly PendingChild[],
  { bucket, folder, mapRunArn, config }: Destination,
): { files: readonly ResultFile[]; output: Json } {
  const isLines = config.OutputType === "JSONL";
  const file = (kind: string, entries: readonly Json[]): readonly ResultFile[] =>
    entries.length === 0
      ? []
      : [
          {
            key: `${folder}/${kind}_0.${isLines ? "jsonl" : "json"}`,
            body: isLines ? lines(entries) : JSON.stringify(entries),
          },
        ];
  const of = (isWanted: (child: Ended) => boolean) =>
    transformed(children.filter(isWanted), config.Transformation ?? "NONE");
  const kinds = {
    FAILED: file(
      "FAILED",
      of(({ status }) => status !== "SUCCEEDED"),
    ),
    PENDING: file("PENDING", pending.map(describePending)),
    SUCCEEDED: file(
      "SUCCEEDED",
      of(({ status }) => status === "SUCCEEDED"),
    ),
  };
  const listed = (files: readonly ResultFile[]): Json =>
    files.map(({ key, body }) => ({ Key: key, Size: utf8Bytes(body) }));
  const manifest = {
    DestinationBucket: bucket,
    MapRunArn: mapRunArn,
    ResultFiles: {
      FAILED: listed(kinds.FAILED),
      PENDING: listed(kinds.PENDING),
      SUCCEEDED: listed(kinds.SUCCEEDED),
    },
  };
  const key = `${folder}/manifest.json`;
  return {
    files: [...Object.values(kinds).flat(), { key, body: JSON.stringify(manifest) }],
    output: { MapRunArn: mapRunArn, ResultWriterDetails: { Bucket: bucket, Key: key } },
  };
}
