// A schedule's turn: what has ended is noted, what waits is begun, what has become due is decided and begun. All of it is
// one transaction that holds the schedule's row, with the messages and executions in it, so that whatever dies in between
// leaves everything as it was, and of two processes that come at once the second finds nothing to do.
import type { Fate } from "../engine/destination.ts";
import { isTuntasError, type TuntasError } from "../core/error.ts";
import type { Sql, Tx } from "../pg/contract.ts";
import { audit } from "./change.ts";
import type { Holidays, Occurrence } from "./contract.ts";
import { closedBy, type ClosedAt } from "./holidays.ts";
import { deadLetterOf, orderOf, type Pending } from "./order.ts";
import { scheduleSignals, type ScheduleSignal } from "./signals.ts";
import type { Clockwork, Decision } from "./state.ts";
import { clockworkOf, decide, dueInstants, leftOutBefore, retry } from "./state.ts";
import { onTimeMs } from "./contract.ts";
import * as store from "./store.ts";
import type { Destinations, Instant, Open, ScheduleRow } from "./store.ts";

/** What is told once the transaction has committed. */
export interface News {
  readonly name: ScheduleSignal;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A schedule whose row is held. */
export interface Held {
  readonly tx: Tx;
  readonly row: ScheduleRow;
  readonly clockwork: Clockwork;
  readonly closedAt: ClosedAt;
  readonly tell: (name: ScheduleSignal, fields: Readonly<Record<string, unknown>>) => void;
}

export type Turns = ReturnType<typeof makeTurns>;

const factsOf = (name: string, { dueMs, run }: Instant) => ({
  schedule: name,
  scheduledAt: new Date(dueMs).toISOString(),
  run,
});

export function makeTurns(database: Sql, destinations: Destinations) {
  /** Runs the work while it holds the schedule's row; undefined where there is no such schedule. */
  async function holding<T>(name: string, work: (held: Held) => Promise<T>): Promise<T | undefined> {
    const news: News[] = [];
    const result = await database.transaction(async (tx) => {
      const row = await store.lockSchedule(tx, name);
      if (!row) return undefined;
      const tell: Held["tell"] = (event, fields) => news.push({ name: event, fields });
      const clockwork = clockworkOf(row);
      const holidays = row.holidays === null ? undefined : (JSON.parse(row.holidays) as Holidays);
      return work({ tx, row, clockwork, closedAt: closedBy(holidays, clockwork.zone), tell });
    });
    for (const { name: event, fields } of news) scheduleSignals.publish(event, fields);
    return result;
  }

  /** Begins the work of the occurrence; what cannot be begun is tried again by the schedule's policy, then given up. */
  async function begin(held: Held, of: Pending): Promise<Occurrence["state"]> {
    const { tx, row, tell } = held;
    const order = orderOf(row, of);
    const begun = await tryIn(tx, () => destinations(order.target.kind).begin(tx, order));
    if ("error" in begun) return refuse(held, of, begun.error);
    const { value: reference } = begun;
    await store.startOccurrence(tx, row, { ...of, reference });
    tell("schedule.started", { ...factsOf(row.name, of), reference, lateMs: row.nowMs - of.dueMs });
    return "started";
  }

  async function refuse(
    { tx, row, tell }: Held,
    of: Pending,
    { code, message }: TuntasError,
  ): Promise<"waiting" | "failed"> {
    const [tries, firstTryMs] = [of.tries + 1, of.triedAtMs ?? row.nowMs];
    const next = retry({ tries, firstTryMs, nowMs: row.nowMs, policy: row, random: Math.random() });
    const why = `${code}: ${message}`;
    if ("againAtMs" in next) {
      await store.delayOccurrence(tx, row.name, of, { beginAtMs: next.againAtMs, reason: why });
      const inMs = Math.round(next.againAtMs - row.nowMs);
      tell("schedule.refused", { ...factsOf(row.name, of), reason: why, tries, inMs });
      return "waiting";
    }
    const letter = deadLetterOf(row, of, { code, message, exhausted: next.exhausted });
    const sent = letter && (await tryIn(tx, () => destinations("queue").begin(tx, letter)));
    const reason = sent && "error" in sent ? `${why}; its dead letter too: ${sent.error.message}` : why;
    await store.giveUpOccurrence(tx, row.name, of, reason);
    tell("schedule.failed", { ...factsOf(row.name, of), reason, durationMs: row.nowMs - firstTryMs });
    return "failed";
  }

  async function fatesOf(tx: Tx, started: readonly Occurrence[]): Promise<Fate[]> {
    const groups = new Map<string, Occurrence[]>();
    for (const each of started) {
      const key = JSON.stringify(each.target);
      groups.set(key, [...(groups.get(key) ?? []), each]);
    }
    const fates: Fate[] = [];
    for (const group of groups.values()) {
      const { kind, name } = group[0]!.target;
      const references = group.map(({ reference }) => reference!);
      fates.push(...(await destinations(kind).fates(tx, name, references)));
    }
    return fates;
  }

  /** Notes what has ended, and answers what is still open. */
  async function settle({ tx, row, clockwork, tell }: Held): Promise<Open[]> {
    const open = await store.openOccurrences(tx, row.name);
    const started = open.filter(({ state }) => state === "started");
    const fates = started.length > 0 ? await fatesOf(tx, started) : [];
    if (fates.length === 0) return open;
    const ended = await store.settleOccurrences(tx, row.name, fates);
    for (const each of ended) {
      const { state, reason, startedAtMs, endedAtMs } = each;
      const facts = { ...factsOf(row.name, each), durationMs: endedAtMs! - startedAtMs! };
      if (state === "failed") tell("schedule.failed", { ...facts, reason });
      else tell("schedule.succeeded", facts);
    }
    const succeeded = ended.filter(({ state }) => state === "succeeded").map(({ dueMs }) => dueMs);
    if (succeeded.length > 0)
      await store.noteSuccess(tx, row.name, clockwork.recurrence.next(Math.max(...succeeded)) ?? null);
    const gone = new Set(ended.map(({ reference }) => reference));
    return open.filter(({ reference }) => reference === null || !gone.has(reference));
  }

  /**
   * Begins what waits, as far as it may; of a paused schedule a person's run, and what was on its way before. One that
   * waits for the clock goes ahead of nobody, unless they may overlap; of one window there is only one at a time even then.
   */
  async function beginWaiting(held: Held, open: readonly Open[]): Promise<Open[]> {
    const { overlap, pausedAtMs, nowMs } = held.row;
    const now = [...open];
    for (const [index, each] of now.entries()) {
      const isHeld = pausedAtMs !== null && each.run === 0 && each.beginAtMs === null;
      if (each.state !== "waiting" || isHeld) continue;
      const isEarly = each.beginAtMs !== null && each.beginAtMs > nowMs;
      if (overlap !== "allow" && (isEarly || now.some(({ state }) => state === "started"))) {
        await store.queueUpOccurrences(held.tx, held.row.name);
        break;
      }
      const isUnderWay = now.some(({ state, dueMs }) => state === "started" && dueMs === each.dueMs);
      if (!isEarly && !isUnderWay) now[index] = { ...each, state: await begin(held, each) };
    }
    return now.filter(({ state }) => state !== "failed");
  }

  /** What has become due: its rows, its work, and the next instant. */
  async function fire(held: Held, open: readonly Open[]): Promise<void> {
    const { tx, row, clockwork, closedAt, tell } = held;
    const { name, nowMs, nextDueMs } = row;
    if (row.pausedAtMs !== null || nextDueMs === null || nextDueMs > nowMs) return;
    const { instants, beyond } = dueInstants(clockwork, nextDueMs, nowMs);
    const decisions = decide({
      due: instants,
      nowMs,
      windowStartMs: beyond === undefined ? row.coveredUntilMs : clockwork.recurrence.previous(instants[0]!)!,
      rules: row,
      underway: {
        running: open.findLast(({ state }) => state === "started")?.dueMs,
        waiting: open.filter(({ state }) => state === "waiting").length,
      },
      closedAt,
      random: Math.random,
    });
    const all = [...lost(row, beyond, instants[0]), ...decisions].map((each) => withLeftOut(clockwork, each));
    await store.insertOccurrences(tx, row, all);
    for (const each of all) {
      const instant = { ...each, run: 0 };
      if (each.state === "started") await begin(held, { ...instant, tries: 0, triedAtMs: null });
      else tell(`schedule.${each.state}`, { ...factsOf(name, instant), reason: each.reason });
    }
    const late = all.filter(({ dueMs }) => nowMs - dueMs > onTimeMs).length;
    if (late > 0) tell("schedule.late", { schedule: name, count: late });
    const last = all.at(-1)?.dueMs ?? nextDueMs;
    const next = clockwork.recurrence.next(Math.max(last, nowMs)) ?? null;
    await store.advanceSchedule(tx, name, last, next);
    const closed = closedAt(last);
    if (closed) await store.expectSuccessOf(tx, name, Math.max(next ?? last, closed.movedToMs ?? last));
  }

  /** A schedule that is to go once nothing of it is due any more goes with the last work that was begun or given up. */
  async function finish({ tx, row }: Held): Promise<void> {
    const { name, afterwards, expression } = row;
    if (afterwards !== "remove" || !(await store.isOver(tx, name))) return;
    await store.removeSchedule(tx, name);
    await audit(tx, "remove", name, { by: "tuntas", reason: `nothing is due by ${expression} any more` });
  }

  /** Everything of one schedule that there is to do now. */
  const turn = (name: string): Promise<void> =>
    holding(name, async (held) => {
      const open = await beginWaiting(held, await settle(held));
      await fire(held, open);
      await finish(held);
    });

  return { holding, settle, beginWaiting, begin, turn };
}

/** What the work came to, or the error that is its own fault: all that it wrote is undone, and the transaction goes on. */
async function tryIn<T>(
  { client }: Tx,
  work: () => Promise<T>,
): Promise<{ readonly value: T } | { readonly error: TuntasError }> {
  await client.query("savepoint begin_work");
  try {
    const value = await work();
    await client.query("release savepoint begin_work");
    return { value };
  } catch (error) {
    if (!isTuntasError(error) || error.retryable) throw error;
    await client.query("rollback to savepoint begin_work");
    return { error };
  }
}

/** More became due than are looked at one by one: one row stands for them. */
function lost(row: ScheduleRow, beyond: number | undefined, until: number | undefined): Decision[] {
  if (beyond === undefined || until === undefined) return [];
  const reason = `this one and all up to ${new Date(until).toISOString()}: more became due than are caught up`;
  return [{ dueMs: beyond, windowStartMs: row.coveredUntilMs, state: "missed", reason, beginAtMs: null }];
}

/** Says so where a change of the clocks left out local times just before. */
function withLeftOut(clockwork: Clockwork, decision: Decision): Decision {
  const times = leftOutBefore(clockwork, decision.dueMs);
  if (times.length === 0) return decision;
  const note = `the clocks left out ${times.join(", ")}`;
  return { ...decision, reason: decision.reason === null ? note : `${decision.reason}; ${note}` };
}
