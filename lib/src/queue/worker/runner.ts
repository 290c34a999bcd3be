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
  let roomBell: (() => void) | undefined;
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

  /** One round: claims what there is room for; answers whether as many came, so that there may be more. */
  async function tick(): Promise<boolean> {
    const count = Math.min(claimMax, pace.target() - held());
    if (count <= 0) return false;
    const messages = await claimSome(count);
    arriving += messages.length;
    // Not awaited: the next claim is on its way while these are parsed.
    void accept(messages);
    return messages.length === count;
  }

  const room = () => new Promise<void>((resolve) => (roomBell = resolve));

  async function claimLoop(): Promise<void> {
    while (!stopping) {
      if (held() >= concurrency && !pace.isLow(held())) {
        await room();
        continue;
      }
      const more = await tick().catch((cause: unknown) => {
        log.warn({ cause, queue: queue.name }, "could not claim; will try again");
        // It may have taken place all the same.
        context.trouble();
        return undefined;
      });
      // Fewer than asked for is all that there was: what comes now rings.
      if (more !== true && !stopping) await bell.wait(more === false ? idleMs : afterErrorMs);
    }
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
    if (pace.isLow(held())) roomBell?.();
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
      roomBell?.();
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
