// Declaring streams and consumers. What they must say is checked here as well as by the compiler, so that an untyped
// declaration is refused too, with everything that it leaves out at once.
import { defaultBackoff } from "../core/backoff.ts";
import { toMs } from "../core/duration.ts";
import { refuseUnknown, unknownOptions, type NamesOf } from "../core/options.ts";
import { dayMs, got, isText as isAnyText, wrongNumber, wrongTime, type Finding } from "../engine/findings.ts";
import { declaring, placeOfCaller } from "../core/place.ts";
import type { Schema } from "../core/schema.ts";
import { isStorable } from "../core/text.ts";
import {
  streamErrors,
  type Appended,
  type AppendOptions,
  type ConsumerDefinition,
  type ConsumerOptions,
  type StreamDefinition,
  type StreamOptions,
  type StreamSettings,
} from "./contract.ts";
import type { FailurePolicy } from "./state.ts";

const nameForm = /^[a-zA-Z0-9][a-zA-Z0-9_-]{0,79}$/;
const [second, minute] = [1000, 60_000];

const isText = (value: unknown): value is string => isAnyText(value) && isStorable(value);
const wrongName = (name: string): Finding =>
  !nameForm.test(name) && `expected a name of up to 80 letters, digits, "-" and "_", ${got(name)}`;
function refuse(what: string, findings: Iterable<Finding>): void {
  const found = [...findings].filter(Boolean);
  if (found.length > 0) throw streamErrors.error("TUNTAS_STREAM_OPTIONS", `${what}: ${found.join("; ")}`);
}

const appendNames: NamesOf<AppendOptions> = { key: true, tx: true };

const streamOptionNames: NamesOf<StreamOptions<Schema>> = {
  record: true,
  partitions: true,
  key: true,
  retention: true,
  owner: true,
  runbook: true,
  sensitive: true,
};

function* streamFindings(name: string, options: StreamOptions<Schema>): Generator<Finding> {
  yield wrongName(name);
  yield* unknownOptions(options, streamOptionNames);
  yield (
    typeof options.record?.["~standard"]?.validate !== "function" &&
    "record: expected a Standard Schema (zod, valibot, …)"
  );
  yield wrongNumber("partitions", options.partitions, [1, 256]);
  yield (
    !isText(options.key) &&
    `key: expected what records are partitioned by and why, such as "order id: what happens to an order", ${got(options.key)}`
  );
  yield wrongTime("retention", options.retention, [minute, 366 * dayMs]);
  yield (
    !isText(options.owner) && `owner: expected who acts when a consumer falls behind, ${got(options.owner)}`
  );
  yield !isText(options.runbook) && `runbook: expected what they read first, ${got(options.runbook)}`;
}

const consumerOptionNames: NamesOf<ConsumerOptions<Schema>> = {
  name: true,
  from: true,
  batch: true,
  onBadRecord: true,
  retry: { attempts: true, base: true, max: true },
  timeout: true,
  lagWithin: true,
  handle: true,
  handleBatch: true,
};

function* consumerFindings(options: ConsumerOptions<Schema>): Generator<Finding> {
  const { name, from, batch, onBadRecord, retry, timeout, lagWithin, handle, handleBatch } = options;
  yield* unknownOptions(options, consumerOptionNames);
  yield wrongName(name);
  yield from !== "start" && from !== "end" && `from: expected "start" or "end", ${got(from)}`;
  yield wrongNumber("batch", batch, [1, 1000]);
  yield (
    onBadRecord !== "park" &&
    onBadRecord !== "stop" &&
    `onBadRecord: expected "park" or "stop", ${got(onBadRecord)}`
  );
  yield wrongNumber("retry.attempts", retry?.attempts, [1, 100]);
  for (const field of ["base", "max"] as const)
    yield retry?.[field] !== undefined && wrongTime(`retry.${field}`, retry[field], [1, dayMs]);
  yield wrongTime("timeout", timeout, [100, 60 * minute]);
  yield wrongTime("lagWithin", lagWithin, [second, 366 * dayMs]);
  yield (
    (typeof handle === "function") === (typeof handleBatch === "function") &&
    "expected either handle or handleBatch to be a function"
  );
}

type AppendFunction = (
  stream: StreamDefinition,
  record: unknown,
  options: AppendOptions,
) => Promise<Appended>;

const appenders = new WeakMap<StreamDefinition, AppendFunction>();

/** Says who carries out `append` of this stream from now on; undefined where nobody does any more. */
export function bindStream(stream: StreamDefinition, append: AppendFunction | undefined): void {
  if (append) appenders.set(stream, append);
  else appenders.delete(stream);
}

function declareStream<S extends Schema>(name: string, options: StreamOptions<S>): StreamDefinition<S> {
  refuse(`stream ${JSON.stringify(name)}`, streamFindings(name, (options ?? {}) as never));
  const definition: StreamDefinition<S> = {
    kind: "stream",
    name,
    options,
    place: placeOfCaller(),
    async append(record, appendOptions) {
      refuseUnknown("append", appendOptions, appendNames);
      const append = appenders.get(definition as unknown as StreamDefinition);
      if (append) return append(definition as unknown as StreamDefinition, record, appendOptions);
      throw streamErrors.error(
        "TUNTAS_STREAM_NOT_STARTED",
        `stream ${name}: start the application that holds it before appending`,
      );
    },
  };
  return definition;
}

/** Declares a stream. Errors: TUNTAS_STREAM_OPTIONS, which names everything that is missing. */
export const stream = declaring(declareStream);

function declareConsumer<S extends Schema>(
  of: StreamDefinition<S>,
  options: ConsumerOptions<S>,
): ConsumerDefinition<S> {
  refuse(
    `stream ${JSON.stringify(of?.name)}: consumer ${JSON.stringify(options?.name)}`,
    consumerFindings((options ?? {}) as never),
  );
  return { kind: "consumer", stream: of, name: options.name, options, place: placeOfCaller() };
}

/** Declares a consumer of a stream. Errors: TUNTAS_STREAM_OPTIONS. */
export const consumer = declaring(declareConsumer);

export const streamSettingsOf = ({ name, options }: StreamDefinition): StreamSettings => ({
  name,
  key: options.key,
  partitions: options.partitions,
  retentionMs: toMs(options.retention),
  owner: options.owner,
  runbook: options.runbook,
});

/** A consumer's declaration as the database keeps it. */
export interface ConsumerRowSettings {
  readonly name: string;
  readonly onBadRecord: "park" | "stop";
  readonly timeoutMs: number;
  readonly lagWithinMs: number;
}

export const consumerSettingsOf = ({ options }: ConsumerDefinition): ConsumerRowSettings => ({
  name: options.name,
  onBadRecord: options.onBadRecord,
  timeoutMs: toMs(options.timeout),
  lagWithinMs: toMs(options.lagWithin),
});

export const failurePolicyOf = ({
  options: { retry, onBadRecord },
}: Pick<ConsumerDefinition, "options">): FailurePolicy => ({
  attemptsMax: retry.attempts,
  backoff: {
    baseMs: retry.base === undefined ? defaultBackoff.baseMs : toMs(retry.base),
    maxMs: retry.max === undefined ? defaultBackoff.maxMs : toMs(retry.max),
  },
  onBadRecord,
});
