// One attempt: call the handler, take what it came to as an outcome, write that. The steps are small on purpose; this is
// where an effect happens once or twice.
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
import { queueSignals } from "../signals.ts";
import type { SettlePolicy, Settlement } from "../state.ts";
import { decide, fingerprint } from "../state.ts";
import type { Failure } from "../store/settle.ts";
import { AttemptContext } from "./context.ts";
import type { Taken } from "./intake.ts";
import type { Settler } from "./settler.ts";
import { openTransaction, type Ending } from "./transaction.ts";
import type { Writer } from "./writes.ts";

export interface AttemptDeps {
  readonly database: Database;
  readonly settler: Settler;
  readonly writer: Writer;
  readonly log: Log;
  readonly worker: WorkerDefinition;
  readonly queue: QueueRecord;
  readonly timeoutMs: number;
  readonly policy: SettlePolicy;
  /** Wakes whoever waits for messages of this queue. */
  readonly wake: () => void;
}

export interface Attempt {
  /** Resolves once its outcome is written, or was found to be nobody's business any more. Never rejects. */
  readonly settled: Promise<void>;
  /** Aborts the handler and gives the message back at once. */
  abandon(): Promise<void>;
  /** Aborts the handler; the message belongs to somebody else. */
  lose(): void;
}

/** Begins the attempt; `handled` is called once, when the handler no longer occupies its place. */
export function runAttempt(deps: AttemptDeps, item: Taken, handled: () => void): Attempt {
  const { queue, worker, timeoutMs } = deps;
  const startedAt = performance.now();
  const context = makeContext(deps, item);
  let over = false;
  let timer: NodeJS.Timeout | undefined;
  let resolveSettled!: () => void;
  const settled = new Promise<void>((resolve) => (resolveSettled = resolve));

  function end(write: () => Promise<void>): void {
    if (over) return;
    over = true;
    clearTimeout(timer);
    context.end();
    void invoke(write)
      .catch((cause: unknown) => settleFailed(deps, item, cause))
      .catch((cause: unknown) =>
        deps.log.error(
          { cause, queue: queue.name, messageId: item.held.messageId },
          "could not write an outcome; the message will come back",
        ),
      )
      .finally(resolveSettled);
    handled();
  }

  const durationMs = () => performance.now() - startedAt;
  const returned = (value: unknown) =>
    end(() =>
      settleReturned(deps, item, context, { outcome: outcomeOfReturned(value), durationMs: durationMs() }),
    );
  const threw = (cause: unknown) =>
    end(() =>
      settleThrown(deps, item, context, { outcome: outcomeOfThrown(cause), durationMs: durationMs() }),
    );

  function expire(): void {
    const cause = queueErrors.error(
      "TUNTAS_ATTEMPT_TIMEOUT",
      `the handler of ${queue.name} took longer than ${worker.options.timeout}`,
    );
    context.abort(cause);
    threw(cause);
  }

  if ("outcome" in item.input) {
    const { outcome } = item.input;
    // In a later turn, so that the caller has noted the attempt before it ends.
    queueMicrotask(() => end(() => settleOutcome(deps, item, outcome, 0)));
  } else {
    timer = setTimeout(expire, Math.min(timeoutMs, 2 ** 31 - 1));
    void invoke(() => worker.options.handle((item.input as { value: unknown }).value, context)).then(
      returned,
      threw,
    );
  }

  const undo = () => context.transaction?.rollback() ?? Promise.resolve();
  return {
    settled,
    async abandon() {
      context.abort(new Error("the process stops"));
      end(async () => {
        await undo();
        await deps.settler.retry({ ...item.held, delayMs: 0 }, queue.fifo);
      });
      await settled;
    },
    lose() {
      context.abort(queueErrors.error("TUNTAS_CLAIM_LOST", "the message belongs to another owner now"));
      end(undo);
    },
  };
}

/** Calls it in a promise, so that a throw of a plain function and a rejection are one. */
async function invoke<T>(work: () => T): Promise<Awaited<T>> {
  return await work();
}

function makeContext(deps: AttemptDeps, item: Taken): AttemptContext {
  const { database, queue, log, timeoutMs } = deps;
  return new AttemptContext({
    message: item.held,
    correlationId: item.correlationId,
    log,
    queueName: queue.name,
    database,
    openTransaction: () =>
      openTransaction({ database, claim: item.held, fifo: queue.fifo, command: item.command, timeoutMs }),
  });
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
  if (context.writes.length > 0) {
    const job = {
      claim: item.held,
      fifo: deps.queue.fifo,
      command: item.command,
      writes: context.writes,
      timeoutMs: deps.timeoutMs,
    };
    return settleCommit(deps, item, durationMs, async () => {
      const ending = await deps.writer.add(job);
      if (ending.kind === "failed") throw ending.cause;
      return ending.kind;
    });
  }
  return settleOutcome(deps, item, done, durationMs);
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
  { outcome, durationMs }: Result,
): Promise<void> {
  await context.transaction?.rollback();
  // Whatever the handler (or its ORM) made of the refusal, it is no failure.
  const refusal = context.transaction?.refusal();
  return settleOutcome(deps, item, refusal ? refusals[refusal] : outcome, durationMs);
}

async function settleCommit(
  deps: AttemptDeps,
  item: Taken,
  durationMs: number,
  commit: () => Promise<Ending>,
): Promise<void> {
  const ending = await commit().catch((cause: unknown) => {
    if (!isTransient(cause)) return outcomeOfThrown(cause);
    deps.log.warn({ cause, queue: deps.queue.name }, "a commit was lost; the attempt is tried again");
    return lostCommit;
  });
  if (ending === "lost") return announceLost(deps, item);
  if (ending !== "committed")
    return settleOutcome(deps, item, typeof ending === "string" ? refusals[ending] : ending, durationMs);
  announce(deps, item, done, durationMs);
  if (deps.queue.fifo) deps.wake(); // the next message of its group
}

/** Writes the outcome, then tells of it; a late owner changes nothing and says so. */
export async function settleOutcome(
  deps: AttemptDeps,
  item: Taken,
  outcome: Outcome,
  durationMs: number,
): Promise<void> {
  const settlement = decide(outcome, item.held.receives, deps.policy, Math.random());
  const moved = await writeSettlement(deps, item, settlement, outcome);
  if (moved) announce(deps, item, outcome, durationMs);
  else announceLost(deps, item);
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
  const { queueId, id, fence } = held;
  if (settlement.kind === "done")
    return settler.done({ queueId, id, fence, command: outcome.kind === "done" ? command : undefined }, fifo);
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

// Text that PostgreSQL cannot hold would fail the write of every failure it shares a commit with.
const storable = (text: string, length: number): string =>
  text.slice(0, length).toWellFormed().replaceAll("\0", "\uFFFD");

function failureOf({ kind, code, message }: Outcome, schemaVersion: string | null): Failure {
  return {
    outcome: kind,
    code: storable(code, 100),
    message: storable(message, 2000),
    fingerprint: storable(fingerprint(code, message), 200),
    schemaVersion: schemaVersion === null ? null : storable(schemaVersion, 100),
  };
}

function announce({ queue, log }: AttemptDeps, item: Taken, outcome: Outcome, durationMs: number): void {
  const { correlationId, held } = item;
  queueSignals.publish("worker.attempt", {
    queue: queue.name,
    outcome: outcome.kind,
    durationMs,
    correlationId,
  });
  if (outcome.kind === "retry" || outcome.kind === "conflict")
    queueSignals.publish("worker.retryable_failure", { queue: queue.name, code: outcome.code });
  if (outcome.kind === "poison")
    queueSignals.publish("worker.poison_message", { queue: queue.name, code: outcome.code });
  if (outcome.kind === "done" || outcome.kind === "duplicate") return;
  const fields = {
    queue: queue.name,
    messageId: held.messageId,
    correlationId,
    outcome: outcome.kind,
    code: outcome.code,
    attempt: held.receives,
  };
  log.warn(fields, outcome.message || outcome.code);
}

function announceLost({ queue, log }: AttemptDeps, { held, correlationId }: Taken): void {
  const cause = queueErrors.error(
    "TUNTAS_CLAIM_LOST",
    `message ${held.messageId} of ${queue.name} is held by another owner; this attempt changed nothing`,
  );
  log.warn({ cause, queue: queue.name, messageId: held.messageId, correlationId }, cause.message);
}
