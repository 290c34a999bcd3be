// Declaring batches. What a batch must say is checked here as well as by the compiler, so that an untyped declaration is
// refused too, with everything that it leaves out at once.
import { toMs } from "../core/duration.ts";
import { declaring, placeOfCaller } from "../core/place.ts";
import { isStorable } from "../core/text.ts";
import type { InputOf, Schema } from "../core/schema.ts";
import { queueErrors } from "../queue/contract.ts";
import { queue } from "../queue/declaration.ts";
import {
  batchErrors,
  type BatchDefinition,
  type BatchOptions,
  type Partition,
  type Started,
  type StartOptions,
} from "./contract.ts";
import { refuseUnknown, unknownOptions, type NamesOf } from "../core/options.ts";
import { dayMs, got, isText, wrongNumber, wrongTime, type Finding, wrongName } from "../engine/findings.ts";
import { stepMessage } from "./step.ts";

const nameForm = /^[a-zA-Z0-9][a-zA-Z0-9_-]{0,59}$/;
const tableForm = /^[a-z_][a-z0-9_]*(\.[a-z_][a-z0-9_]*)?$/;

/** A declaration as the database keeps it. */
export interface BatchSettings {
  readonly name: string;
  readonly staging: string;
  /** Null: as long as the job is the latest that was promoted. */
  readonly stagingKeptMs: number | null;
  readonly attempts: number;
  readonly concurrency: number;
  readonly priority: number;
  readonly runsOn: string | null;
  readonly retentionMs: number;
  readonly owner: string;
  readonly runbook: string;
  readonly announceKind: string | null;
  readonly announceName: string | null;
}

type AnyOptions = BatchOptions<Schema, any>;
function* wrongStaging(staging: AnyOptions["staging"] | undefined): Generator<Finding> {
  yield (
    (!isText(staging?.table) || !tableForm.test(staging.table)) &&
    `staging.table: expected the name of a table in lower case, ${got(staging?.table)}`
  );
  if (staging?.kept !== "current") yield wrongTime("staging.kept", staging?.kept, [0, 366 * dayMs]);
}

export const wrongPlace = (runsOn: AnyOptions["runsOn"] | undefined): Finding =>
  runsOn !== "anywhere" &&
  !isText(runsOn?.service) &&
  `runsOn: expected "anywhere" or { service: "its name" }, ${got(runsOn)}`;

/** Whether processes of the service work on it. */
export const runsIn = (
  { options: { runsOn } }: { readonly options: Pick<AnyOptions, "runsOn"> },
  service: string,
): boolean => runsOn === "anywhere" || runsOn.service === service;

function* wrongPolicies({
  retry,
  timeout,
  concurrency,
  priority,
  ...options
}: AnyOptions): Generator<Finding> {
  yield wrongNumber("retry.attempts", retry?.attempts, [1, 100]);
  yield wrongTime("retry.base", retry?.base, [0, dayMs]);
  yield wrongTime("retry.max", retry?.max, [0, dayMs]);
  yield wrongTime("timeout", timeout, [100, 7 * dayMs]);
  yield wrongNumber("concurrency", concurrency, [1, 1000]);
  yield wrongNumber("priority", priority, [-1000, 1000]);
  yield wrongPlace(options.runsOn);
  yield !isText(options.owner) && "owner: expected who acts when it fails";
  yield !isText(options.runbook) && "runbook: expected what they read first";
  if (options.retention !== undefined)
    yield wrongTime("retention", options.retention, [60_000, 3660 * dayMs]);
  const { announce } = options;
  yield (
    announce !== undefined &&
    (!isText(announce?.kind) || !isText(announce?.name)) &&
    `announce: expected a queue, a workflow or { kind, name }, ${got(announce)}`
  );
  const service = options.runsOn === "anywhere" ? undefined : options.runsOn?.service;
  const texts = [options.owner, options.runbook, service, announce?.kind, announce?.name];
  yield (
    texts.some((each) => isText(each) && !isStorable(each)) && "expected text without NUL or lone surrogates"
  );
}

const startNames: NamesOf<StartOptions> = {
  key: true,
  by: true,
  reason: true,
  priority: true,
  tx: true,
};

const optionNames: NamesOf<AnyOptions> = {
  input: true,
  partitions: true,
  handle: true,
  validate: true,
  promote: true,
  staging: { table: true, kept: true },
  retry: { attempts: true, base: true, max: true },
  timeout: true,
  concurrency: true,
  priority: true,
  runsOn: { service: true },
  owner: true,
  runbook: true,
  announce: true,
  retention: true,
};

function* findings(name: string, options: AnyOptions): Generator<Finding> {
  yield* unknownOptions(options, optionNames);
  yield wrongName(name, nameForm, 'up to 60 letters, digits, "-" and "_"');
  yield (
    typeof options.input?.["~standard"]?.validate !== "function" &&
    "input: expected a Standard Schema (zod, valibot, …)"
  );
  for (const field of ["partitions", "handle", "validate", "promote"] as const)
    yield typeof options[field] !== "function" && `${field}: expected a function, ${got(options[field])}`;
  yield* wrongStaging(options.staging);
  yield* wrongPolicies(options);
}

/** What the plan, the partitions and the promotion of a batch go through. */
export const queueNameOf = (name: string): string => `batch-${name}`;

type StartFunction = (batch: BatchDefinition, input: unknown, options: StartOptions) => Promise<Started>;

const starters = new WeakMap<object, StartFunction>();

/** Says who carries out `start` of this batch from now on; the platform calls it when an application starts and stops. */
export function bindBatch(batch: BatchDefinition, start: StartFunction | undefined): void {
  if (start) starters.set(batch, start);
  else starters.delete(batch);
}

/** A declared batch; also the typed way to start jobs of it, once an application that holds it has started. */
export interface TypedBatch<S extends Schema, P extends Partition> extends BatchDefinition<S, P> {
  start(input: InputOf<S>, options?: StartOptions): Promise<Started>;
}

function declareBatch<S extends Schema, P extends Partition>(
  name: string,
  options: BatchOptions<S, P>,
): TypedBatch<S, P> {
  const found = [...findings(name, (options ?? {}) as unknown as AnyOptions)].filter(Boolean);
  if (found.length > 0)
    throw batchErrors.error("TUNTAS_BATCH_OPTIONS", `batch ${JSON.stringify(name)}: ${found.join("; ")}`);
  const { owner, runbook } = options;
  const definition: TypedBatch<S, P> = {
    kind: "batch",
    name,
    options,
    // A partition that fails for good is on its own row; a dead letter here is a message that this room did not write.
    queue: queue(queueNameOf(name), {
      message: stepMessage,
      deadLetter: { after: 1000, owner, runbook, retention: "14d" },
      retention: "14d",
    }),
    place: placeOfCaller(),
    async start(input, startOptions = {}) {
      refuseUnknown(`start of batch ${name}`, startOptions, startNames);
      const start = starters.get(definition);
      if (!start)
        throw queueErrors.error(
          "TUNTAS_NOT_STARTED",
          `batch ${name}: start the application that holds it before starting a job`,
        );
      return start(definition as unknown as BatchDefinition, input, startOptions);
    },
  };
  return definition;
}

/** Declares a batch. Errors: TUNTAS_BATCH_OPTIONS, which names everything that is missing. */
export const batch = declaring(declareBatch);

export function settingsOf({ name, options }: BatchDefinition): BatchSettings {
  const { staging, retry, concurrency, priority, runsOn, owner, runbook, announce } = options;
  return {
    name,
    staging: staging.table,
    stagingKeptMs: staging.kept === "current" ? null : toMs(staging.kept),
    attempts: retry.attempts,
    concurrency,
    priority,
    runsOn: runsOn === "anywhere" ? null : runsOn.service,
    retentionMs: toMs(options.retention ?? "90d"),
    owner,
    runbook,
    announceKind: announce?.kind ?? null,
    announceName: announce?.name ?? null,
  };
}
