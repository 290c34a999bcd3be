// Declaring queues and workers in code. Policies are required fields: what is silent does not compile.
import { inspect } from "node:util";
import type { Backoff } from "../core/backoff.ts";
import { defaultBackoff } from "../core/backoff.ts";
import type { Duration } from "../core/duration.ts";
import { toMs, toSeconds } from "../core/duration.ts";
import { declaring, placeOfCaller } from "../core/place.ts";
import type { InputOf, OutputOf, Schema } from "../core/schema.ts";
import { refuseUnknown, unknownOptions, type NamesOf } from "../core/options.ts";
import { wrongSlowAbove, type SlowAbove } from "../engine/handler/ease.ts";
import type { Write } from "../engine/handler/contract.ts";
import type { Queryable } from "../pg/contract.ts";
import type { PoisonPolicy, QueueSettings, Sent, Suppressed } from "./contract.ts";
import { queueErrors } from "./contract.ts";
import { tenantFaults, type TenantOptions } from "./tenants.ts";
import type { Context } from "./worker/context.ts";

export interface DeadLetterPolicy {
  /** Received this often without success, a message goes to the dead-letter queue (1 to 1000). */
  readonly after: number;
  /** Who is called, and answers for what lies there. */
  readonly owner: string;
  /** Where it says what to do. */
  readonly runbook: string;
  /** How long dead letters are kept, at most 14 days. */
  readonly retention: Duration;
  /** When a replay is refused, by the code of the failure: `{ "CASE_CLOSED": "the case is closed" }`. */
  readonly replayForbidden?: Readonly<Record<string, string>>;
}

export interface QueueOptions<S extends Schema> {
  /** What a message is: any Standard Schema (zod, valibot, …). `send` checks it, the worker parses by it. */
  readonly message: S;
  /**
   * Fields of the body that only approvers and admins may see, by path: `customer.email`, `lines.*.card`. What the schema
   * itself marks as `sensitive: true`, where it can describe itself as JSON Schema, need not be named.
   */
  readonly sensitive?: readonly string[];
  readonly deadLetter: DeadLetterPolicy;
  /**
   * Whose a message is: `tenant: ({ customerId }) => customerId`. Its messages are a group, and each group of a standard queue gets
   * one message a turn; what a tenant may take at most, a worker says (`tenants`).
   */
  tenant?(message: OutputOf<S>): string;
  /** What becomes of a message that can never succeed: quarantined at once, or received until it is dead (the default). */
  readonly poison?: PoisonPolicy;
  /** Hides a message that was received over the wire; a worker's own is held as long as it lives. 30s by default. */
  readonly visibilityTimeout?: Duration;
  readonly delay?: Duration;
  /** How long a message may wait, 60s to 14d; 4d by default. */
  readonly retention?: Duration;
  /** FIFO queues (the name ends with .fifo): deduplicate by the body's hash. */
  readonly contentDeduplication?: boolean;
  /** The versions of the message that workers take, found in its field `version`; others are poison. */
  readonly versions?: readonly (string | number)[];
  /** Rules of `tuntas check` that this queue breaks on purpose, and why: `{ "endless-retry": "the partner is slow" }`. */
  readonly accepts?: Readonly<Record<string, string>>;
}

export interface SendOptions {
  /** Sends in this transaction: the message appears when it commits. */
  readonly tx?: Queryable | undefined;
  readonly delay?: Duration | undefined;
  readonly groupId?: string | undefined;
  readonly deduplicationId?: string | undefined;
  /** Travels with the message to the worker's log. */
  readonly correlationId?: string | undefined;
  /** Further SQS message attributes of type String. */
  readonly attributes?: Readonly<Record<string, string>> | undefined;
}

const sendNames: NamesOf<SendOptions> = {
  tx: true,
  delay: true,
  groupId: true,
  deduplicationId: true,
  correlationId: true,
  attributes: true,
};

type SendFunction = (
  queue: QueueDefinition,
  message: unknown,
  options: SendOptions,
) => Promise<Sent | Suppressed>;

/** A declared queue; also the typed way to send to it, once an application that holds it has started. */
export interface QueueDefinition<S extends Schema = Schema> {
  readonly kind: "queue";
  readonly name: string;
  readonly options: QueueOptions<S>;
  /** Where it is declared, as file:line, if the stack says so. */
  readonly place: string | undefined;
  /** Makes a message durable. Errors: TUNTAS_MESSAGE_INVALID, TUNTAS_MESSAGE_SIZE, TUNTAS_NOT_STARTED, database errors. */
  send(message: InputOf<S>, options?: SendOptions): Promise<Sent | Suppressed>;
}

const names = /^(?=.{1,80}$)[A-Za-z0-9_-]+(\.fifo)?$/;

function wrong(name: string, message: string): Error {
  return queueErrors.error("TUNTAS_QUEUE_OPTIONS", `queue ${JSON.stringify(name)}: ${message}`);
}

const optionNames: NamesOf<QueueOptions<Schema>> = {
  message: true,
  sensitive: true,
  deadLetter: { after: true, owner: true, runbook: true, retention: true, replayForbidden: true },
  tenant: true,
  poison: true,
  visibilityTimeout: true,
  delay: true,
  retention: true,
  contentDeduplication: true,
  versions: true,
  accepts: true,
};

function checkTenant(name: string, { tenant }: QueueOptions<Schema>): void {
  if (tenant === undefined) return;
  if (typeof tenant !== "function")
    throw wrong(name, `expected tenant to be a function, got ${inspect(tenant)}`);
  if (name.endsWith(".fifo"))
    throw wrong(name, "tenant is for standard queues: on a FIFO queue a group is what must stay in order");
}

function checkQueue(name: string, options: QueueOptions<Schema>): void {
  const { deadLetter, message } = options;
  if (!names.test(name)) {
    throw queueErrors.error(
      "TUNTAS_QUEUE_NAME",
      `expected 1 to 80 letters, digits, "-" or "_", got ${JSON.stringify(name)}`,
    );
  }
  for (const finding of unknownOptions(options, optionNames)) throw wrong(name, finding);
  if (typeof message?.["~standard"]?.validate !== "function")
    throw wrong(name, "expected `message` to be a Standard Schema (zod, valibot, …)");
  if (typeof deadLetter !== "object" || deadLetter === null)
    throw wrong(
      name,
      `expected deadLetter, such as { after: 5, owner: "orders-team", runbook: "runbooks/orders.md", retention: "14d" }, got ${inspect(deadLetter)}`,
    );
  for (const field of ["owner", "runbook", "retention"] as const) {
    if (typeof deadLetter[field] !== "string" || deadLetter[field] === "")
      throw wrong(name, `expected deadLetter.${field}, got ${inspect(deadLetter[field])}`);
  }
  if (!Number.isInteger(deadLetter.after) || deadLetter.after < 1 || deadLetter.after > 1000) {
    throw wrong(name, `expected deadLetter.after from 1 to 1000, got ${inspect(deadLetter.after)}`);
  }
  checkTenant(name, options);
  toMs(deadLetter.retention, `queue ${JSON.stringify(name)}: deadLetter.retention`);
  for (const field of ["visibilityTimeout", "delay", "retention"] as const) {
    if (options[field] !== undefined) toMs(options[field], `queue ${JSON.stringify(name)}: ${field}`);
  }
}

function checkWorkerDurations(name: string, { timeout, backoff, slowAbove }: WorkerOptions<any>): void {
  const worker = `queue ${JSON.stringify(name)}: worker:`;
  toMs(timeout, `${worker} timeout`);
  const slow = wrongSlowAbove(slowAbove);
  if (slow) throw wrong(name, `worker: ${slow}`);
  for (const field of ["base", "max"] as const)
    if (backoff !== undefined) toMs(backoff[field], `${worker} backoff.${field}`);
}

const senders = new WeakMap<QueueDefinition, SendFunction>();

/** Says who carries out `send` of this queue from now on; the platform calls it when an application starts and stops. */
export function bindQueue(queue: QueueDefinition, send: SendFunction | undefined): void {
  if (send) senders.set(queue, send);
  else senders.delete(queue);
}

function declareQueue<S extends Schema>(name: string, options: QueueOptions<S>): QueueDefinition<S> {
  checkQueue(name, (options ?? {}) as unknown as QueueOptions<Schema>);
  const definition: QueueDefinition<S> = {
    kind: "queue",
    name,
    options,
    place: placeOfCaller(),
    async send(message, sendOptions = {}) {
      refuseUnknown("send", sendOptions, sendNames);
      const send = senders.get(definition as unknown as QueueDefinition);
      if (!send)
        throw queueErrors.error(
          "TUNTAS_NOT_STARTED",
          `queue ${name}: start the application that holds it before sending`,
        );
      return send(definition as unknown as QueueDefinition, message, sendOptions);
    },
  };
  return definition;
}

/** Declares a queue. Errors: TUNTAS_QUEUE_NAME, TUNTAS_QUEUE_OPTIONS. */
export const queue = declaring(declareQueue);

/** The name of the dead-letter queue that a declared queue gets. */
export const deadLetterNameOf = (name: string): string =>
  name.endsWith(".fifo") ? `${name.slice(0, -5)}-dlq.fifo` : `${name}-dlq`;

/** The declared settings as the queue's row has them. */
export function settingsOf({ name, options }: QueueDefinition): QueueSettings {
  const { deadLetter, visibilityTimeout, delay, retention } = options;
  return {
    ...(visibilityTimeout !== undefined && { visibilitySeconds: toSeconds(visibilityTimeout) }),
    ...(delay !== undefined && { delaySeconds: toSeconds(delay) }),
    ...(retention !== undefined && { retentionSeconds: toSeconds(retention) }),
    ...(options.contentDeduplication !== undefined && { contentDeduplication: options.contentDeduplication }),
    deadLetterName: deadLetterNameOf(name),
    receivesMax: deadLetter.after,
    poison: options.poison ?? "exhaust",
    owner: deadLetter.owner,
    runbook: deadLetter.runbook,
    replayForbidden: JSON.stringify(deadLetter.replayForbidden ?? {}),
  };
}

export const deadLetterSettingsOf = ({ options: { deadLetter } }: QueueDefinition): QueueSettings => ({
  retentionSeconds: toSeconds(deadLetter.retention),
  owner: deadLetter.owner,
  runbook: deadLetter.runbook,
});

export type MessageOf<Q> = Q extends QueueDefinition<infer S> ? OutputOf<S> : never;

export interface WorkerOptions<S extends Schema> {
  /** Names the work of a message, so that it is done once however often it arrives; "none" where repeating is harmless. */
  readonly idempotencyKey: ((message: OutputOf<S>) => string) | "none";
  /** An attempt that takes longer is aborted and tried again. */
  readonly timeout: Duration;
  /** Handlers of this worker that run at once in one process; 16 by default. */
  readonly concurrency?: number;
  /** Handlers of this queue that run at once in all processes together. */
  readonly globalConcurrency?: number;
  /** What one tenant may take of the queue, which says whose each message is (`tenant`). */
  readonly tenants?: TenantOptions;
  /**
   * While the heartbeat of the process finds the database slower than this (1ms to 60s), the worker takes less: a third
   * less at each beat, about a second apart, at least one, and then little by little all again. Without it never.
   */
  readonly slowAbove?: SlowAbove;
  /** Messages with an equal key are handled one after another, in all processes. */
  readonly lock?: (message: OutputOf<S>) => string;
  readonly backoff?: { readonly base: Duration; readonly max: Duration };
  /** Rules of `tuntas check` that this worker breaks on purpose, and why. */
  readonly accepts?: Readonly<Record<string, string>>;
  /** Handles one message. Returning ends it as done; see the outcomes for everything else. */
  readonly handle: (message: OutputOf<S>, context: Context) => unknown;
}

/** What a room above makes of the attempts of a worker of its own, by the message that the handler had. */
export interface AttemptHooks {
  /** What is written with the end of the message instead of what a failed attempt wrote; undefined where it is tried again. */
  readonly instead: (message: unknown, cause: unknown) => readonly Write[] | undefined;
  /** Its end is committed, with what was written. */
  readonly ended: (message: unknown) => void;
}

export interface WorkerDefinition<S extends Schema = Schema> {
  readonly kind: "worker";
  readonly queue: QueueDefinition<S>;
  readonly options: WorkerOptions<S>;
  readonly hooks?: AttemptHooks;
  /** Where it is declared, as file:line, if the stack says so. */
  readonly place: string | undefined;
}

const workerOptionNames: NamesOf<WorkerOptions<Schema>> = {
  idempotencyKey: true,
  timeout: true,
  concurrency: true,
  globalConcurrency: true,
  tenants: true,
  slowAbove: { database: true },
  lock: true,
  backoff: { base: true, max: true },
  accepts: true,
  handle: true,
};

const tenantNames: NamesOf<Omit<TenantOptions, "only">> = {
  concurrency: true,
  perSecond: true,
  breaker: { failures: true, standstill: true },
};

function checkTenants(
  { options: { tenant } }: QueueDefinition<any>,
  { only, ...options }: TenantOptions,
  fail: (message: string) => Error,
): void {
  if (!tenant) throw fail("tenants need to know whose each message is: declare tenant on the queue");
  for (const finding of unknownOptions(options, tenantNames, "tenants.")) throw fail(finding);
  for (const fault of tenantFaults({ ...options, ...(only && { only }) })) throw fail(fault);
}

function declareWorker<S extends Schema>(
  of: QueueDefinition<S>,
  options: WorkerOptions<S>,
): WorkerDefinition<S> {
  const fail = (message: string) => wrong(of.name, `worker: ${message}`);
  for (const finding of unknownOptions(options, workerOptionNames)) throw fail(finding);
  if (typeof options.handle !== "function")
    throw fail(`expected handle to be a function, got ${typeof options.handle}`);
  if (options.idempotencyKey !== "none" && typeof options.idempotencyKey !== "function")
    throw fail('expected idempotencyKey to be a function or "none"');
  for (const field of ["concurrency", "globalConcurrency"] as const) {
    const value = options[field];
    if (value !== undefined && (!Number.isInteger(value) || value < 1 || value > 1000))
      throw fail(`expected ${field} from 1 to 1000, got ${inspect(value)}`);
  }
  if (options.tenants) checkTenants(of, options.tenants, fail);
  checkWorkerDurations(of.name, options);
  return { kind: "worker", queue: of, options, place: placeOfCaller() };
}

/** Declares the worker of a queue. Errors: TUNTAS_QUEUE_OPTIONS. */
export const worker = declaring(declareWorker);

export const backoffOf = ({ backoff }: Pick<WorkerOptions<Schema>, "backoff">): Backoff =>
  backoff ? { baseMs: toMs(backoff.base), maxMs: toMs(backoff.max) } : defaultBackoff;
