// The worker of one queue in this process: claims ahead, starts handlers as slots get free, settles what they came to.
import { makeBell } from "../../engine/wake.ts";
import type { SlotTable } from "../../engine/process/slots.ts";
import type { Log } from "../../engine/log.ts";
import { toMs } from "../../core/duration.ts";
import type { HeldMessage, QueueRecord } from "../contract.ts";
import type { Catalog } from "../client/catalog.ts";
import type { QueueContext } from "../client/context.ts";
import { readyKey, wakeQueues } from "../client/context.ts";
import { makeClaimer, tellClaimed } from "../client/receive.ts";
import type { WorkerDefinition } from "../declaration.ts";
import { backoffOf } from "../declaration.ts";
import { duplicate } from "../../core/outcome.ts";
import { claimCapped, claimFifoMessages } from "../store/claim.ts";
import { elsewhereMs, makeAdmission } from "./admission.ts";
import { Attempt, settleOutcome, type AttemptDeps, type AttemptOwner } from "./attempt.ts";
import { makeDeadline } from "./deadline.ts";
import type { Taken } from "./intake.ts";
import { makePace } from "./pace.ts";
import type { Settler } from "./settler.ts";
import type { Writer } from "./writes.ts";

export interface RunnerDeps {
  readonly context: QueueContext;
  readonly catalog: Catalog;
  readonly slots: SlotTable;
  readonly settler: Settler;
  readonly writer: Writer;
  readonly log: Log;
  readonly processId: () => string;
}

export interface Runner {
  readonly name: string;
  /** Handlers that run now, and messages that wait in this process for one. */
  active(): { readonly running: number; readonly buffered: number };
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

export const concurrencyDefault = 16;
const claimMax = 500;
// While the messages of one claim are handled the database has the next to do: one at a time drained 0.9 times as fast.
const claimsMax = 2;
// A notification wakes it, or the heartbeat, which looks once a second; after a claim that failed nobody might.
const [idleMs, afterErrorMs] = [60_000, 1000];

const attemptDepsOf = (deps: RunnerDeps, worker: WorkerDefinition, queue: QueueRecord): AttemptDeps => ({
  ...deps,
  database: deps.context.database,
  worker,
  queue,
  timeoutMs: toMs(worker.options.timeout),
  policy: { backoff: backoffOf(worker.options), poison: worker.queue.options.poison ?? "exhaust" },
  wake: () => wakeQueues(deps.context, [queue.id]),
  trouble: deps.context.trouble,
});

export function makeRunner(deps: RunnerDeps, worker: WorkerDefinition, queue: QueueRecord): Runner {
  const { context, catalog, slots, log } = deps;
  const { options } = worker;
  const concurrency = options.concurrency ?? concurrencyDefault;
  const claim = makeClaimer(context, queue.id);
  const pace = makePace(concurrency, options.globalConcurrency !== undefined);
  const bell = makeBell(context.waker, readyKey(queue.id));
  const buffer: Taken[] = [];
  const running = new Set<Attempt>();
  const activeKeys = new Set<string>();
  // Messages that all end in the shared commits may lie in one row; the first that does not shows what this work is like.
  let bundled = options.lock === undefined;
  let stopping = false;
  let arriving = 0;
  let settling = 0;
  let losses = 0;
  let claims = 0;
  /** How long to wait for the bell before the next claim. */
  let restMs = 0;
  let changed: (() => void) | undefined;
  let loop: Promise<void> | undefined;
  const idlers: (() => void)[] = [];

  const attemptDeps = attemptDepsOf(deps, worker, queue);
  const deadline = makeDeadline(running, attemptDeps.timeoutMs);
  const admission = makeAdmission({ ...attemptDeps, slots, endDuplicate });

  // ---- claiming

  const held = (): number => arriving + buffer.length + running.size;

  async function claimSome(count: number): Promise<HeldMessage[]> {
    const current = await catalog.find(queue, queue.name);
    if (!current || current.pausedAtMs !== null) return [];
    await context.due.catchUp();
    const request = { queueId: queue.id, count, ownerId: deps.processId(), visibilitySeconds: null };
    const cap = options.globalConcurrency;
    if (cap === undefined && !queue.fifo) return claim({ ...request, bundled });
    const claimed =
      cap === undefined
        ? await claimFifoMessages(context.database, request)
        : await claimCapped(context.database, request, cap, queue.fifo);
    tellClaimed(context, queue.id, claimed);
    // What ended instead had stood in front of others, which are worth another look.
    if (claimed.dead + claimed.expired > 0) context.waker.wake(readyKey(queue.id));
    return claimed.messages;
  }

  /** How many messages the next claim asks for; none where enough are held or on their way. */
  function wanted(): number {
    if (held() >= concurrency && !pace.isLow(held())) return 0;
    return Math.max(0, Math.min(claimMax, pace.target() - held()));
  }

  async function claimNext(count: number): Promise<void> {
    claims++;
    arriving += count;
    const messages = await claimSome(count).catch((cause: unknown) => {
      log.warn({ cause, queue: queue.name }, "could not claim; will try again");
      // It may have taken place all the same.
      context.trouble();
    });
    claims--;
    arriving -= count - (messages?.length ?? 0);
    if (!messages) restMs = afterErrorMs;
    else if (messages.length === count) restMs = 0;
    // Fewer than asked for is all that there was: what comes now rings.
    else restMs ||= idleMs;
    changed?.();
    if (messages) void accept(messages);
  }

  const change = () => new Promise<void>((resolve) => (changed = resolve));

  async function rest(): Promise<void> {
    await bell.wait(restMs);
    restMs = 0;
  }

  async function claimLoop(): Promise<void> {
    while (!stopping) {
      const count = restMs === 0 && claims < claimsMax ? wanted() : 0;
      if (count > 0) void claimNext(count);
      else await (restMs > 0 && claims === 0 ? rest() : change());
    }
    while (claims > 0) await change();
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
    while (running.size < concurrency && buffer.length > 0 && !stopping) begin(buffer.shift()!);
    if (pace.isLow(held())) changed?.();
    if (isDrained()) for (const resolve of idlers.splice(0)) resolve();
  }

  function release(item: Taken): void {
    slots.free(item.slot);
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
    settling--;
    if (item.command) activeKeys.delete(item.command.key);
    release(item);
    // Whoever found the cap reached, here or elsewhere, may claim now.
    if (options.globalConcurrency !== undefined) attemptDeps.wake();
    if (stopping) pump();
  }

  const owner: AttemptOwner = { handled, settled };

  // ---- stopping

  const giveBack = (items: readonly Taken[]) => Promise.all(items.map((item) => admission.giveBack(item, 0)));

  /** Nothing is on its way in, nothing runs, and no outcome is still being written. */
  const isDrained = (): boolean => arriving + running.size + settling === 0;

  return {
    name: queue.name,
    active: () => ({ running: running.size, buffered: buffer.length }),
    start() {
      loop = claimLoop();
    },
    async stopClaiming() {
      stopping = true;
      changed?.();
      context.waker.wake(readyKey(queue.id));
      await loop;
      bell.close();
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
