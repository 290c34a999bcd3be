// The relay of one process: sees which targets have rows waiting, and empties each, side by side with the relays of the
// other processes. A target that is out of order, or that nobody has bound, has its rows wait; the alarm says so.
import { workAgendum, type Agendum } from "../../engine/agenda.ts";
import type { Breaker } from "../../engine/outside/breaker.ts";
import { makeBreaker } from "../../engine/outside/breaker.ts";
import type { Log } from "../../engine/log.ts";
import { startPeriodic } from "../../engine/periodic.ts";
import type { TargetName, Targets } from "../../engine/target.ts";
import { longestSleepMs, type Waker } from "../../engine/wake.ts";
import type { Sql } from "../../pg/contract.ts";
import type { RefusalPolicy } from "../contract.ts";
import { outboxSignals } from "../signals.ts";
import { defaultRefusals } from "../state.ts";
import type { WaitingTarget } from "../store.ts";
import { claimRows, lockTarget, waitingTargets } from "../store.ts";
import { deliverOut } from "./deliver.ts";
import { deliverIn } from "./inward.ts";

/** What a relay listens for. */
export const outboxKey = "outbox";

export interface RelayOptions {
  readonly database: Sql;
  readonly targets: Targets;
  readonly waker: Waker;
  readonly log: Pick<Log, "warn">;
  /** The process that claims. */
  readonly owner: () => string;
  readonly policy?: RefusalPolicy;
  /** How long one delivery may take. */
  readonly timeoutMs?: number;
  /** How many keys of one target are delivered side by side. */
  readonly concurrency?: number;
  /** The oldest row of a target raises an alarm from this age on. */
  readonly ageAlarmMs?: number;
}

/** Wakes the relay where rows wait, whether or not a notification came. */
export const outboxAgenda = (waker: Waker): Agendum[] => [
  workAgendum("select from tuntas.outbox where parked_at is null", () => waker.wake(outboxKey)),
];

export interface Relay {
  close(): Promise<void>;
}

const leaseMs = 60_000;
const busyMs = 500;
const alarmEveryMs = 60_000;
const rowsOutMax = 100;
const rowsInMax = 500;

export function startRelay(options: RelayOptions): Relay {
  const {
    database,
    targets,
    waker,
    log,
    owner,
    policy = defaultRefusals,
    timeoutMs = 10_000,
    concurrency = 16,
  } = options;
  const { ageAlarmMs = 60_000 } = options;
  const breakers = new Map<string, Breaker>();
  const pumps = new Map<string, Promise<void>>();
  const alarmedAt = new Map<string, number>();
  const ending = new AbortController();

  const label = ({ kind, name }: TargetName): string => `${kind}:${name}`;

  function breakerOf(target: TargetName): Breaker {
    const known = breakers.get(label(target)) ?? makeBreaker();
    breakers.set(label(target), known);
    return known;
  }

  async function claimOut(target: TargetName, rowsMax: number) {
    return database.transaction(async (tx) =>
      (await lockTarget(tx, target)) ? claimRows(tx, target, { owner: owner(), rowsMax, leaseMs }) : [],
    );
  }

  /** One batch; answers whether there may be more to do at once. */
  async function batch(target: TargetName): Promise<boolean> {
    const bound = targets.find(target);
    if (!bound) return false;
    if ("deliverIn" in bound) {
      const inward = {
        database,
        target,
        deliverIn: bound.deliverIn,
        policy,
        owner: owner(),
        rowsMax: rowsInMax,
      };
      return (await deliverIn(inward)).published > 0;
    }
    const breaker = breakerOf(target);
    const admitted = breaker.admits();
    if (admitted === 0) return false;
    const rows = await claimOut(target, Math.min(admitted, rowsOutMax));
    const outward = {
      database,
      target,
      deliver: bound.deliver,
      breaker,
      policy: bound.refusals ?? policy,
      timeoutMs: bound.timeoutMs ?? timeoutMs,
      concurrency,
      ending: ending.signal,
    };
    await deliverOut(outward, rows, leaseMs);
    return rows.length > 0;
  }

  async function pump(target: TargetName): Promise<void> {
    try {
      while (!ending.signal.aborted && (await batch(target)));
    } catch (cause) {
      log.warn({ cause, target: label(target) }, "the relay could not publish and will try again");
    } finally {
      pumps.delete(label(target));
    }
  }

  function reasonOf(target: TargetName): string {
    if (!targets.find(target)) return "no process here has bound the target";
    return breakerOf(target).admits() === 0
      ? "the target cannot be reached, or has asked to be left alone"
      : "the target is slow, or refuses the first row of a key";
  }

  function watch(target: WaitingTarget): void {
    const { kind, name, oldestAgeMs: ageMs } = target;
    outboxSignals.publish("outbox.age", { kind, name, ageMs });
    const sinceMs = performance.now() - (alarmedAt.get(label(target)) ?? -Infinity);
    if (ageMs < ageAlarmMs || sinceMs < alarmEveryMs) return;
    alarmedAt.set(label(target), performance.now());
    const reason = reasonOf(target);
    outboxSignals.publish("outbox.overdue", { kind, name, ageMs, reason });
    log.warn({ target: label(target), ageMs, reason }, "outbox rows have waited too long");
  }

  async function round(): Promise<number> {
    const waiting = await waitingTargets(database);
    for (const target of waiting) {
      watch(target);
      if (!pumps.has(label(target))) pumps.set(label(target), pump({ kind: target.kind, name: target.name }));
    }
    return waiting.length > 0 ? busyMs : longestSleepMs;
  }

  const onError = (cause: unknown) =>
    log.warn({ cause }, "the relay could not look for rows and will try again");
  const periodic = startPeriodic({ waker, key: outboxKey, round, onError, leastMs: 20 });
  return {
    async close() {
      ending.abort();
      await periodic.close();
      await Promise.all(pumps.values());
    },
  };
}
