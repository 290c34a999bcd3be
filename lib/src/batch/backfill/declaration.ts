// Declaring backfills. What one must say is checked here as well as by the compiler, so that an untyped declaration is
// refused too, with everything that it leaves out at once.
import { zoneOf } from "../../core/cron/index.ts";
import { toMs } from "../../core/duration.ts";
import { isTuntasError } from "../../core/error.ts";
import { declaring, placeOfCaller } from "../../core/place.ts";
import type { Schema } from "../../core/schema.ts";
import { isStorable } from "../../core/text.ts";
import { queue } from "../../queue/declaration.ts";
import type { Partition } from "../contract.ts";
import { wrongPlace } from "../declaration.ts";
import { unknownOptions, type NamesOf } from "../../core/options.ts";
import {
  dayMs,
  got,
  isText,
  wrongNumber,
  wrongTime,
  type Finding,
  wrongName,
} from "../../engine/findings.ts";
import {
  backfillErrors,
  type BackfillDefinition,
  type BackfillOptions,
  type OffPeak,
  type Policy,
} from "./contract.ts";
import type { Limits } from "./state.ts";
import { stepMessage } from "./step.ts";

const nameForm = /^[a-zA-Z0-9][a-zA-Z0-9_-]{0,59}$/;
const tableForm = /^[a-z_][a-z0-9_]*(\.[a-z_][a-z0-9_]*)?$/;
const columnForm = /^[a-z_][a-z0-9_]*$/;
const clockForm = /^([01]\d|2[0-3]):[0-5]\d$/;

type AnyOptions = BackfillOptions<Schema, any, string>;

const isFunction = (value: unknown): boolean => typeof value === "function";
const isColumns = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.length > 0 && value.every((each) => isText(each) && columnForm.test(each));

export const keyOf = ({ key }: AnyOptions["records"]): readonly string[] =>
  typeof key === "string" ? [key] : key;

function* wrongRecords(records: AnyOptions["records"] | undefined): Generator<Finding> {
  const { table, columns, where, final } = records ?? ({} as Partial<AnyOptions["records"]>);
  yield (
    (!isText(table) || !tableForm.test(table)) &&
    `records.table: expected the name of a table in lower case, ${got(table)}`
  );
  yield (
    (records === undefined || !isColumns(keyOf(records))) &&
    `records.key: expected a column or a list of columns in lower case, ${got(records?.key)}`
  );
  yield !isColumns(columns) && `records.columns: expected a list of columns in lower case, ${got(columns)}`;
  yield !isFunction(where) && `records.where: expected a function, ${got(where)}`;
  yield !isText(final) && `records.final: expected a condition in SQL, or "none", ${got(final)}`;
}

function wrongZone(timeZone: unknown): Finding {
  try {
    zoneOf(timeZone as string);
    return false;
  } catch (cause) {
    if (isTuntasError(cause)) return `window: ${cause.message}`;
    throw cause;
  }
}

function* wrongWindow(window: AnyOptions["window"] | undefined): Generator<Finding> {
  if (window === "any") return;
  const { from, to, timeZone } = window ?? ({} as Partial<OffPeak>);
  yield (
    (![from, to].every((each) => isText(each) && clockForm.test(each)) || from === to) &&
    `window: expected "any", or from and to as HH:MM and not the same, ${got(window)}`
  );
  yield window !== undefined && wrongZone(timeZone);
}

function* wrongPolicies(options: AnyOptions): Generator<Finding> {
  const { throttle, abort, rollback } = options;
  yield wrongNumber("throttle.perSecond", throttle?.perSecond, [1, 1_000_000]);
  yield wrongTime("throttle.slowAbove.database", throttle?.slowAbove?.database, [1, 60_000]);
  yield wrongTime("throttle.slowAbove.downstream", throttle?.slowAbove?.downstream, [1, 600_000]);
  const share = abort?.errorShare;
  yield (
    !(typeof share === "number" && share >= 0 && share <= 1) &&
    `abort.errorShare: expected a share from 0 to 1, ${got(share)}`
  );
  yield wrongTime("abort.downstream", abort?.downstream, [1, 600_000]);
  yield* wrongWindow(options.window);
  yield !isText(rollback?.plan) && "rollback.plan: expected how it is undone, in words";
  yield (
    rollback?.undo !== undefined &&
    !isFunction(rollback.undo) &&
    `rollback.undo: expected a function, ${got(rollback.undo)}`
  );
  yield wrongTime("timeout", options.timeout, [100, dayMs]);
  yield wrongNumber("concurrency", options.concurrency, [1, 1000]);
  yield wrongPlace(options.runsOn);
  yield !isText(options.owner) && "owner: expected who acts when it stops";
  yield !isText(options.runbook) && "runbook: expected what they read first";
  yield (
    [options.owner, options.runbook, rollback?.plan].some((each) => isText(each) && !isStorable(each)) &&
    "expected text without NUL or lone surrogates"
  );
}

const optionNames: NamesOf<AnyOptions> = {
  scope: true,
  records: { table: true, key: true, columns: true, where: true, final: true },
  partitions: true,
  handle: true,
  throttle: { perSecond: true, slowAbove: { database: true, downstream: true } },
  abort: { errorShare: true, downstream: true },
  window: { from: true, to: true, timeZone: true },
  verify: true,
  rollback: { plan: true, undo: true },
  timeout: true,
  concurrency: true,
  runsOn: { service: true },
  owner: true,
  runbook: true,
};

function* findings(name: string, options: AnyOptions): Generator<Finding> {
  yield* unknownOptions(options, optionNames);
  yield wrongName(name, nameForm, 'up to 60 letters, digits, "-" and "_"');
  yield (
    !isFunction(options.scope?.["~standard"]?.validate) &&
    "scope: expected a Standard Schema (zod, valibot, …)"
  );
  yield* wrongRecords(options.records);
  for (const field of ["partitions", "handle", "verify"] as const)
    yield !isFunction(options[field]) && `${field}: expected a function, ${got(options[field])}`;
  yield* wrongPolicies(options);
}

/** What the steps of a backfill's runs go through. */
export const queueNameOf = (name: string): string => `backfill-${name}`;

function declareBackfill<S extends Schema, P extends Partition, const C extends string>(
  name: string,
  options: BackfillOptions<S, P, C>,
): BackfillDefinition<S, P, C> {
  const found = [...findings(name, (options ?? {}) as unknown as AnyOptions)].filter(Boolean);
  if (found.length > 0)
    throw backfillErrors.error(
      "TUNTAS_BACKFILL_OPTIONS",
      `backfill ${JSON.stringify(name)}: ${found.join("; ")}`,
    );
  const { owner, runbook } = options;
  return {
    kind: "backfill",
    name,
    options,
    // What cannot go on is paused on its own row; a dead letter here is a message that this room did not write.
    queue: queue(queueNameOf(name), {
      message: stepMessage,
      deadLetter: { after: 1000, owner, runbook, retention: "14d" },
      retention: "14d",
    }),
    place: placeOfCaller(),
  };
}

/** Declares a backfill. Errors: TUNTAS_BACKFILL_OPTIONS, which names everything that is missing. */
export const backfill = declaring(declareBackfill);

/** A declaration as the database keeps it. */
export interface BackfillSettings {
  readonly name: string;
  readonly perSecond: number;
  readonly window: OffPeak | undefined;
  readonly policy: Policy;
  readonly owner: string;
  readonly runbook: string;
}

export function settingsOf({ name, options }: BackfillDefinition): BackfillSettings {
  const { records, throttle, abort, window, rollback, owner, runbook } = options;
  const policy: Policy = {
    table: records.table,
    final: records.final,
    errorShare: abort.errorShare,
    slowAbove: throttle.slowAbove,
    abortAbove: abort.downstream,
    rollback: rollback.plan,
    undo: rollback.undo !== undefined,
    runsOn: options.runsOn === "anywhere" ? null : options.runsOn.service,
  };
  const { perSecond } = throttle;
  return { name, perSecond, window: window === "any" ? undefined : window, policy, owner, runbook };
}

export const limitsOf = ({ options: { throttle, abort } }: BackfillDefinition): Limits => ({
  slowDatabaseMs: toMs(throttle.slowAbove.database),
  slowDownstreamMs: toMs(throttle.slowAbove.downstream),
  abortDownstreamMs: toMs(abort.downstream),
  errorShare: abort.errorShare,
});
