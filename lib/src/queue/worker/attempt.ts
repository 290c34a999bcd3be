// One attempt: call the handler, take what it came to as an outcome, write that. The steps are small on purpose; this is
// where an effect happens once or twice.
import type { Write } from "../../engine/handler/contract.ts";
import type { Log } from "../../engine/log.ts";
import type { Database } from "../../pg/database.ts";
import { isTransient } from "../../pg/faults.ts";
import type { QueueRecord } from "../contract.ts";
import { queueErrors } from "../contract.ts";
import type { WorkerDefinition } from "../declaration.ts";
import {
  busy,
  done,
  duplicate,
  Outcome,
  outcomeOfReturned,
  outcomeOfThrown,
  retry,
} from "../../core/outcome.ts";
import { storable } from "../../core/text.ts";
import { queueSignals } from "../signals.ts";
import type { SettlePolicy, Settlement } from "../state.ts";
import { decide, fingerprint, poisonFate } from "../state.ts";
import type { Failure } from "../store/settle.ts";
import { AttemptContext, commitShared } from "./context.ts";
import type { Taken } from "./intake.ts";
import type { Source } from "./source.ts";
import type { Ending } from "./transaction.ts";

export interface AttemptDeps extends Pick<
  Source,
  "settler" | "writer" | "endings" | "committed" | "wake" | "watching"
> {
  readonly database: Database;
  readonly log: Log;
  readonly worker: WorkerDefinition;
  readonly queue: QueueRecord;
  readonly timeoutMs: number;
  readonly policy: SettlePolicy;
  /** Tells that a message is left in flight, whose outcome could not be written. */
  readonly trouble: () => void;
}

/** Whoever runs attempts hears of each twice, once each. */
export interface AttemptOwner {
  /** The handler no longer occupies its place. */
  handled(attempt: Attempt): void;
  /** Its outcome is written, or was found to be nobody's business any more. */
  settled(attempt: Attempt): void;
}

// A class, because there is one for each message: its methods cost nothing, where closures would be made anew.
export class Attempt {
  readonly item: Taken;
  readonly startedAt = performance.now();
  private readonly deps: AttemptDeps;
  private readonly owner: AttemptOwner;
  private readonly context: AttemptContext;
  private over = false;
  private awaiting: (() => void) | undefined;

  constructor(deps: AttemptDeps, item: Taken, owner: AttemptOwner) {
    this.deps = deps;
    this.item = item;
    this.owner = owner;
    this.context = new AttemptContext(deps, item);
  }

  /** Whether the handler opened a transaction, so that its message ends in that and not in a shared commit. */
  get hadTransaction(): boolean {
    return this.context.transaction !== undefined;
  }

  /** Calls the handler; nothing ends before the caller's turn is over. */
  begin(): void {
    const { input } = this.item;
    if ("outcome" in input)
      queueMicrotask(() => this.end(() => settleOutcome(this.deps, this.item, input.outcome, 0)));
    else
      this.call(input.value).then(
        (value) => this.returned(value),
        (cause: unknown) => this.threw(cause),
      );
  }

  /** The attempt is past its time. */
  expire(): void {
    const { queue, worker } = this.deps;
    const cause = queueErrors.error(
      "TUNTAS_ATTEMPT_TIMEOUT",
      `the handler of ${queue.name} took longer than ${worker.options.timeout}`,
    );
    this.context.abort(cause);
    this.threw(cause);
  }

  /** Aborts the handler and gives the message back at once; resolves once that is written. */
  async abandon(): Promise<void> {
    const settled = new Promise<void>((resolve) => (this.awaiting = resolve));
    this.context.abort(new Error("the process stops"));
    this.end(async () => {
      await this.undo();
      await this.deps.settler.retry({ ...this.item.held, delayMs: 0 }, this.deps.queue.fifo);
    });
    await settled;
  }

  /** Aborts the handler; the message belongs to somebody else. */
  lose(): void {
    this.context.abort(queueErrors.error("TUNTAS_CLAIM_LOST", "the message belongs to another owner now"));
    this.end(() => this.undo());
  }

  /** A throw of a plain function and a rejection are one. */
  private call(value: unknown): Promise<unknown> {
    try {
      return Promise.resolve(this.deps.worker.options.handle(value, this.context));
    } catch (cause) {
      return Promise.reject(cause as Error);
    }
  }

  private returned(value: unknown): void {
    const outcome = outcomeOfReturned(value);
    if (outcome === done && this.context.wroteNothing) this.acknowledge();
    else this.end(() => settleReturned(this.deps, this.item, this.context, this.result(outcome)));
  }

  private threw(cause: unknown): void {
    const result = this.result(outcomeOfThrown(cause));
    this.end(() => settleThrown(this.deps, this.item, this.context, { ...result, cause }));
  }

  private result(outcome: Outcome): Result {
    return { outcome, durationMs: performance.now() - this.startedAt };
  }

  /** From here on nothing more of the handler's is written; false if that was so already. */
  private close(): boolean {
    if (this.over) return false;
    this.over = true;
    this.context.end();
    return true;
  }

  /** The way of most messages: done, with nothing to commit but the acknowledgement. */
  private acknowledge(): void {
    if (!this.close()) return;
    const { deps, item } = this;
    const durationMs = performance.now() - this.startedAt;
    const { queueId, id, fence, bundled } = item.held;
    const ended = { queueId, id, fence, bundled, command: item.command };
    deps.settler.acknowledge(ended, deps.queue.fifo, (ending) => {
      if (typeof ending === "object") return this.write(() => Promise.reject(ending.failure as Error));
      announceEnd(deps, item, { outcome: done, durationMs }, ending);
      this.settle();
    });
    this.owner.handled(this);
  }

  private end(write: () => Promise<void>): void {
    if (!this.close()) return;
    this.write(write);
    this.owner.handled(this);
  }

  private write(write: () => Promise<void>): void {
    const { deps, item } = this;
    void write()
      .catch((cause: unknown) => settleFailed(deps, item, cause))
      .catch((cause: unknown) => {
        const fields = { cause, queue: deps.queue.name, messageId: item.held.messageId };
        deps.log.error(fields, "could not write an outcome; the message will come back");
        deps.trouble();
      })
      .finally(() => this.settle());
  }

  private settle(): void {
    this.owner.settled(this);
    this.awaiting?.();
  }

  private undo(): Promise<void> {
    return this.context.transaction?.rollback() ?? Promise.resolve();
  }
}

// The database's fault, not the message's, so it does not wait longer each time. Where the commit did take place after
// all, the fence is gone and this retry moves nothing.
const lostCommit = retry({
  code: "TUNTAS_DATABASE_UNREACHABLE",
  message: "the commit was lost",
  after: "200ms",
});

interface Result {
  readonly outcome: Outcome;
  readonly durationMs: number;
}

/** The handler returned: what it wrote commits together with the acknowledgement. */
async function settleReturned(
  deps: AttemptDeps,
  item: Taken,
  context: AttemptContext,
  { outcome, durationMs }: Result,
): Promise<void> {
  if (outcome.kind !== "done") {
    await context.transaction?.rollback();
    return settleOutcome(deps, item, outcome, durationMs);
  }
  if (context.transaction) return settleCommit(deps, item, durationMs, () => commitOwn(context));
  if (context.writes.length > 0) return settleCommit(deps, item, durationMs, () => context.commitWrites());
  return settleOutcome(deps, item, done, durationMs);
}

/** What a room above writes with the end of the message, where an attempt of its worker has failed. */
function insteadOf({ worker: { hooks } }: AttemptDeps, { input }: Taken, cause: unknown) {
  return "value" in input ? hooks?.instead(input.value, cause) : undefined;
}

const refusals = { duplicate, busy };

/** What the handler wrote both ways, in its own transaction. */
async function commitOwn({ transaction, writes }: AttemptContext): Promise<Ending> {
  try {
    for (const { text, values } of writes) await transaction!.tx.query(text, values as unknown[]);
  } catch (cause) {
    await transaction!.rollback();
    throw cause;
  }
  return transaction!.commit();
}

async function settleThrown(
  deps: AttemptDeps,
  item: Taken,
  context: AttemptContext,
  { outcome, durationMs, cause }: Result & { readonly cause: unknown },
): Promise<void> {
  await context.transaction?.rollback();
  // Whatever the handler (or its ORM) made of the refusal, it is no failure.
  const refusal = context.transaction?.refusal();
  const instead = refusal ? undefined : insteadOf(deps, item, cause);
  if (instead) return settleInstead(deps, item, durationMs, instead);
  return settleOutcome(deps, item, refusal ? refusals[refusal] : outcome, durationMs);
}

async function settleCommit(
  deps: AttemptDeps,
  item: Taken,
  durationMs: number,
  commit: () => Promise<Ending>,
): Promise<void> {
  let instead: readonly Write[] | undefined;
  const ending = await commit().catch((cause: unknown) => {
    instead = insteadOf(deps, item, cause);
    return outcomeOfCommit(deps, cause);
  });
  if (instead) return settleInstead(deps, item, durationMs, instead);
  return settleEnding(deps, item, durationMs, ending);
}

async function settleInstead(
  deps: AttemptDeps,
  item: Taken,
  durationMs: number,
  writes: readonly Write[],
): Promise<void> {
  const ending = await commitShared(deps, item, writes).catch((cause: unknown) =>
    outcomeOfCommit(deps, cause),
  );
  return settleEnding(deps, item, durationMs, ending);
}

/** What it comes to that a commit failed. */
function outcomeOfCommit({ log, queue }: AttemptDeps, cause: unknown): Outcome {
  if (!isTransient(cause)) return outcomeOfThrown(cause);
  log.warn({ cause, queue: queue.name }, "a commit was lost; the attempt is tried again");
  return lostCommit;
}

async function settleEnding(
  deps: AttemptDeps,
  item: Taken,
  durationMs: number,
  ending: Ending | Outcome,
): Promise<void> {
  if (ending === "lost") return announceLost(deps, item);
  if (ending !== "committed")
    return settleOutcome(deps, item, typeof ending === "string" ? refusals[ending] : ending, durationMs);
  deps.committed(item.held);
  announce(deps, item, done, durationMs);
  if ("value" in item.input) deps.worker.hooks?.ended(item.input.value);
  if (deps.queue.fifo) deps.wake(); // the next message of its group
}

/** Writes the outcome, then tells of it; a late owner changes nothing and says so. */
export async function settleOutcome(
  deps: AttemptDeps,
  item: Taken,
  outcome: Outcome,
  durationMs: number,
): Promise<void> {
  if (deps.watching && outcome !== lostCommit) await deps.watching.failing(item.held, outcome);
  const settlement = decide(outcome, item.held.receives, deps.policy, Math.random());
  const moved = await writeSettlement(deps, item, settlement, outcome);
  announceEnd(deps, item, { outcome, durationMs }, moved);
}

/** An outcome that cannot be written is a failure like any other: counted, tried again, and dead in the end. */
async function settleFailed(deps: AttemptDeps, item: Taken, cause: unknown): Promise<void> {
  deps.log.warn(
    { cause, queue: deps.queue.name, messageId: item.held.messageId },
    "an outcome could not be written",
  );
  const { code, message } = outcomeOfThrown(cause);
  await settleOutcome(deps, item, new Outcome("retry", code, message), 0);
}

function writeSettlement(
  { settler, queue: { fifo } }: AttemptDeps,
  { held, command, schemaVersion }: Taken,
  settlement: Settlement,
  outcome: Outcome,
): Promise<boolean> {
  if (settlement.kind === "done")
    return settler.done({ command: outcome.kind === "done" ? command : undefined, ...held }, fifo);
  const failure = failureOf(outcome, schemaVersion);
  switch (settlement.kind) {
    case "retry":
      return settler.retry(
        { ...held, delayMs: settlement.delayMs, failure: settlement.counts ? failure : undefined },
        fifo,
      );
    case "quarantine":
      return settler.quarantine({ ...held, failure }, fifo);
    case "reject":
      return settler.reject({ ...held, failure }, fifo);
  }
}

function failureOf({ kind, code, message }: Outcome, schemaVersion: string | null): Failure {
  return {
    outcome: kind,
    code: storable(code, 100),
    message: storable(message, 2000),
    fingerprint: storable(fingerprint(code, message), 200),
    schemaVersion: schemaVersion === null ? null : storable(schemaVersion, 100),
  };
}

function announceEnd(deps: AttemptDeps, item: Taken, { outcome, durationMs }: Result, moved: boolean): void {
  if (moved) announce(deps, item, outcome, durationMs);
  else announceLost(deps, item);
}

function announce(deps: AttemptDeps, item: Taken, outcome: Outcome, durationMs: number): void {
  const { queue, log } = deps;
  const { correlationId, held, tenant } = item;
  deps.watching?.ended(held, outcome);
  const { messageId, receives: attempt } = held;
  const { kind, code, cause } = outcome;
  queueSignals.publish("worker.attempt", {
    queue: queue.name,
    outcome: kind,
    durationMs,
    messageId,
    attempt,
    correlationId,
    tenant,
  });
  if (kind === "done" || kind === "duplicate") return;
  const failed = { queue: queue.name, code, messageId, correlationId, tenant, outcome: kind, attempt };
  if (kind === "retry" || kind === "conflict") queueSignals.publish("worker.retryable_failure", failed);
  if (kind === "poison") queueSignals.publish("worker.poison_message", failed);
  const fields = cause ? { ...failed, stack: cause.stack } : failed;
  const text = outcome.message || code;
  const fate = kind === "poison" ? poisonFate(deps.policy, queue, attempt) : "";
  if (fate === undefined) log.debug(fields, text);
  else log.warn(fields, text + fate);
}

function announceLost({ queue, log }: AttemptDeps, { held, correlationId }: Taken): void {
  const cause = queueErrors.error(
    "TUNTAS_CLAIM_LOST",
    `message ${held.messageId} of ${queue.name} is held by another owner; this attempt changed nothing`,
  );
  log.warn({ cause, queue: queue.name, messageId: held.messageId, correlationId }, cause.message);
}
