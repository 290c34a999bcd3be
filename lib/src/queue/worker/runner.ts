// The worker of one queue in this process: claims ahead, starts handlers as slots get free, settles what they came to.
import type { SlotTable } from "../../engine/process/slots.ts";
import { makeEase, type Ease, type OnBeat } from "../../engine/handler/ease.ts";
import type { Log } from "../../engine/log.ts";
import { toMs } from "../../core/duration.ts";
import type { HeldMessage, QueueRecord } from "../contract.ts";
import type { QueueContext } from "../client/context.ts";
import type { WorkerDefinition } from "../declaration.ts";
import { backoffOf } from "../declaration.ts";
import { queueSignals } from "../signals.ts";
import { duplicate } from "../../core/outcome.ts";
import { elsewhereMs, makeAdmission } from "./admission.ts";
import { Attempt, settleOutcome, type AttemptDeps, type AttemptOwner } from "./attempt.ts";
import { makeDeadline } from "./deadline.ts";
import type { Taken } from "./intake.ts";
import { concurrencyDefault, makePace } from "./pace.ts";
import type { Source } from "./source.ts";

export interface RunnerDeps {
  readonly context: QueueContext;
  readonly slots: SlotTable;
  readonly log: Log;
  readonly onBeat: OnBeat;
}

export interface Active {
  /** Handlers that run now. */
  readonly running: number;
  /** Messages that wait in this process for one. */
  readonly buffered: number;
  /** Handlers that may run at once for now: its concurrency, or less while it eases. */
  readonly places: number;
}

export interface Runner {
  readonly name: string;
  active(): Active;
  start(): void;
  /** Stops claiming and gives back what has not begun. */
  stopClaiming(): Promise<void>;
  /** Resolves once every attempt has ended. */
  drained(): Promise<void>;
  /** Aborts what still runs and gives its messages back at once. */
  abandon(): Promise<void>;
  /** Forgets what is held: it belongs to others now. */
  lose(): void;
}

const claimMax = 500;
// While the messages of one claim are handled the database has the next to do: one at a time drained 0.9 times as fast.
const claimsMax = 2;
// Handled and not yet written: on a slow disk these would take every slot of the process, and then messages go back.
const settlingMax = 2000;

/** One worker on one queue, as one source has it. */
export interface Work {
  readonly worker: WorkerDefinition;
  readonly queue: QueueRecord;
  readonly source: Source;
}

const attemptDepsOf = (deps: RunnerDeps, { worker, queue, source }: Work): AttemptDeps => ({
  ...deps,
  ...source,
  database: deps.context.database,
  worker,
  queue,
  timeoutMs: toMs(worker.options.timeout),
  policy: { backoff: backoffOf(worker.options), poison: worker.queue.options.poison ?? "exhaust" },
  trouble: deps.context.trouble,
});

const easeOf = ({ onBeat }: RunnerDeps, { worker, queue }: Work, changed: () => void): Ease =>
  makeEase({
    concurrency: worker.options.concurrency ?? concurrencyDefault,
    slowAbove: worker.options.slowAbove,
    onBeat,
    tell: (what, fields) => queueSignals.publish(`worker.${what}`, { queue: queue.name, ...fields }),
    changed,
  });

/** Whether what one process holds others may not run. */
const sharesCaps = ({ options }: WorkerDefinition): boolean =>
  options.globalConcurrency !== undefined || options.tenants !== undefined;

export function makeRunner(deps: RunnerDeps, work: Work): Runner {
  const { context, slots, log } = deps;
  const { worker, queue, source } = work;
  const buffer: Taken[] = [];
  const running = new Set<Attempt>();
  const activeKeys = new Set<string>();
  // Messages that all end in the shared commits may lie in one row; the first that does not shows what this work is like.
  let bundled = worker.options.lock === undefined;
  let stopping = false;
  let arriving = 0;
  let settling = 0;
  let [losses, claims] = [0, 0];
  /** What the claims since the last rest brought: as many as they asked for, fewer, or nothing that is known. */
  let found: "all" | "fewer" | "failed" = "all";
  let changed: (() => void) | undefined;
  let loop: Promise<void> | undefined;
  const idlers: (() => void)[] = [];

  const attemptDeps = attemptDepsOf(deps, work);
  const deadline = makeDeadline(running, attemptDeps.timeoutMs);
  const admission = makeAdmission({ ...attemptDeps, slots, endDuplicate });

  const ease = easeOf(deps, work, lookAgain);
  const pace = makePace(ease, sharesCaps(worker));
  const offer = source.offer({ take, isFull: () => held() >= ease.places() });

  // ---- claiming

  const held = (): number => arriving + buffer.length + running.size;

  function hasEnough(): boolean {
    return settling >= settlingMax || (held() >= ease.places() && !pace.isLow(held()));
  }

  /** How many messages the next claim asks for; none where enough are held or on their way. */
  function wanted(): number {
    if (hasEnough()) return 0;
    return Math.max(0, Math.min(claimMax, pace.target() - held()));
  }

  /** There may be more room, or less. */
  function lookAgain(): void {
    changed?.();
    pump();
  }

  async function claimNext(count: number): Promise<void> {
    claims++;
    arriving += count;
    const messages = await source.claim(count, bundled).catch((cause: unknown) => {
      log.warn({ cause, queue: queue.name }, "could not claim; will try again");
      // It may have taken place all the same.
      context.trouble();
    });
    claims--;
    arriving -= count - (messages?.length ?? 0);
    if (!messages) found = "failed";
    else if (messages.length === count) found = "all";
    else if (found === "all") found = "fewer";
    changed?.();
    if (messages) void accept(messages);
  }

  const change = () => new Promise<void>((resolve) => (changed = resolve));

  async function rest(): Promise<void> {
    offer.rests(true);
    await source.rest(found === "failed");
    offer.rests(false);
    found = "all";
  }

  async function claimLoop(): Promise<void> {
    while (!stopping) {
      const count = found === "all" && claims < claimsMax ? wanted() : 0;
      if (count > 0) void claimNext(count);
      else await (found !== "all" && claims === 0 ? rest() : change());
    }
    while (claims > 0) await change();
  }

  /** Takes what was handed over while it rested, unless it has enough. */
  function take(message: HeldMessage): boolean {
    if (stopping || hasEnough()) return false;
    arriving++;
    void accept([message]);
    return true;
  }

  // ---- from held to running

  async function accept(messages: readonly HeldMessage[]): Promise<void> {
    const epoch = losses;
    const admitted = await admission.admit(messages);
    if (epoch !== losses) admitted.forEach(release);
    else if (stopping) await giveBack(admitted);
    else buffer.push(...admitted);
    arriving -= messages.length;
    pump();
  }

  /** Ends a message whose work was done before. */
  async function endDuplicate(item: Taken): Promise<void> {
    await settleOutcome(attemptDeps, item, duplicate, 0).catch((cause: unknown) => {
      const fields = { cause, queue: queue.name, messageId: item.held.messageId };
      log.error(fields, "could not acknowledge a duplicate; it will come back");
      context.trouble();
    });
    release(item);
  }

  function pump(): void {
    while (running.size < ease.places() && buffer.length > 0 && !stopping) begin(buffer.shift()!);
    if (pace.isLow(held())) changed?.();
    offer.changed();
    if (isDrained()) for (const resolve of idlers.splice(0)) resolve();
  }

  function release(item: Taken): void {
    slots.free(item.slot);
    source.forget(item.held);
  }

  function begin(item: Taken): void {
    if (!slots.begin(item.slot, attemptDeps.timeoutMs)) return release(item);
    const key = item.command?.key;
    // Two copies of one piece of work in this process: the second waits its turn instead of running beside the first.
    if (key !== undefined && activeKeys.has(key)) {
      void admission.giveBack(item, elsewhereMs());
      return;
    }
    if (key !== undefined) activeKeys.add(key);
    const attempt = new Attempt(attemptDeps, item, owner);
    running.add(attempt);
    deadline.begun();
    attempt.begin();
  }

  /** The handler has ended: its place is free, also while its outcome is still being written. */
  function handled(attempt: Attempt): void {
    running.delete(attempt);
    if (attempt.hadTransaction) bundled = false;
    pace.ended();
    settling++;
    pump();
  }

  function settled({ item }: Attempt): void {
    if (settling-- === settlingMax) changed?.();
    if (item.command) activeKeys.delete(item.command.key);
    release(item);
    // Whoever found a cap reached, here or elsewhere, may claim now.
    if (sharesCaps(worker)) attemptDeps.wake();
    if (stopping) pump();
  }

  const owner: AttemptOwner = { handled, settled };

  // ---- stopping

  const giveBack = (items: readonly Taken[]) => Promise.all(items.map((item) => admission.giveBack(item, 0)));

  /** Nothing is on its way in, nothing runs, and no outcome is still being written. */
  const isDrained = (): boolean => arriving + running.size + settling === 0;

  return {
    name: queue.name,
    active: () => ({ running: running.size, buffered: buffer.length, places: ease.places() }),
    start() {
      loop = claimLoop();
    },
    async stopClaiming() {
      stopping = true;
      ease.close();
      changed?.();
      source.ring();
      await loop;
      await offer.close();
      source.close();
      await giveBack(buffer.splice(0));
    },
    drained: () => (isDrained() ? Promise.resolve() : new Promise((resolve) => idlers.push(resolve))),
    async abandon() {
      await Promise.all([...running].map((attempt) => attempt.abandon()));
      deadline.close();
    },
    lose() {
      losses++;
      for (const item of buffer.splice(0)) release(item);
      for (const attempt of running) attempt.lose();
    },
  };
}
