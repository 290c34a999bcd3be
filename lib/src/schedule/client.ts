// The asking side and what the clock has it do: declare, list, pause, resume, run a window again, and each schedule's turn
// when it is due. Each act of a person goes on the record.
import { dueAgendum, workAgendum, type Agendum } from "../engine/agenda.ts";
import type { Destination } from "../engine/destination.ts";
import { makeDueClock } from "../engine/due.ts";
import { readNowMs } from "../pg/clock.ts";
import type { Sql } from "../pg/contract.ts";
import { makeArrangements, type Arrangements } from "./arrangement/client.ts";
import { makeGroups, type Groups } from "./arrangement/groups.ts";
import * as change from "./change.ts";
import { audit, rewrite, timingOf } from "./change.ts";
import type { Act, Occurrence, ScheduleDefinition, ScheduleReport, Upcoming } from "./contract.ts";
import { scheduleErrors } from "./contract.ts";
import { settingsOf } from "./declaration.ts";
import type { Closed } from "./holidays.ts";
import type { ScheduleSettings } from "./settings.ts";
import { leftOutBefore, windowStartOf } from "./state.ts";
import * as store from "./store.ts";
import { makeTurns, type Held } from "./turn.ts";

export interface Schedules {
  /** Keeps what an application declares; another expression counts from now on. */
  declare(by: string, definitions: readonly ScheduleDefinition[]): Promise<void>;
  list(): Promise<ScheduleReport[]>;
  /** Errors: TUNTAS_SCHEDULE_MISSING. */
  find(name: string): Promise<ScheduleReport>;
  /** The latest first. Errors: TUNTAS_SCHEDULE_MISSING. */
  occurrences(name: string, limit?: number): Promise<Occurrence[]>;
  /** The instants to come. Errors: TUNTAS_SCHEDULE_MISSING. */
  next(name: string, count?: number): Promise<Upcoming[]>;
  /** Nothing becomes due until somebody resumes it. Errors: TUNTAS_SCHEDULE_MISSING. */
  pause(name: string, act: Act): Promise<ScheduleReport>;
  /** Goes on with the next instant from now; what passed meanwhile is not caught up. Errors: TUNTAS_SCHEDULE_MISSING. */
  resume(name: string, act: Act): Promise<ScheduleReport>;
  /**
   * Runs the window of an instant again, of the latest one by default, also of a paused schedule; it waits while another
   * runs, unless they may overlap. Errors: TUNTAS_SCHEDULE_MISSING, TUNTAS_SCHEDULE_WINDOW.
   */
  run(name: string, act: Act & { readonly dueMs?: number | undefined }): Promise<Occurrence>;
  /** Removes it with its record; it comes back where it is still declared. Errors: TUNTAS_SCHEDULE_MISSING. */
  remove(name: string, act: Act): Promise<void>;
  /** Begins now what is due, instead of at the next beat. */
  sweep(): Promise<void>;
  /** Schedules that no code declares, as AWS's API makes them. */
  readonly arrangements: Arrangements;
  readonly groups: Groups;
}

export interface ScheduleRoom {
  readonly schedules: Schedules;
  /** What it asks at each beat. */
  readonly agenda: readonly Agendum[];
  /** Something may have ended in a way that the heartbeat does not see: it looks within a second, however often this is said. */
  lookSoon(): void;
  /** Once a while: what has ended in a way that the heartbeat does not see, and what is beyond its retention. */
  tidy(): Promise<void>;
  close(): Promise<void>;
}

export interface ScheduleRoomOptions {
  readonly database: Sql;
  readonly destinations: ReadonlyMap<string, Destination>;
  /** Where what is of another kind goes. */
  readonly otherwise: Destination;
  readonly onError: (cause: unknown) => void;
}

const tryAgainMs = 1000;
const lookWithinMs = 1000;

const missing = (name: string) =>
  scheduleErrors.error("TUNTAS_SCHEDULE_MISSING", `there is no schedule ${JSON.stringify(name)}`, {
    details: { name },
  });

export function openSchedules({
  database,
  destinations,
  otherwise,
  onError,
}: ScheduleRoomOptions): ScheduleRoom {
  const turns = makeTurns(database, (kind) => destinations.get(kind) ?? otherwise);
  let failed = false;

  /** One that fails, since its queue is gone, say, does not keep the others back. */
  async function turnAll(names: readonly string[]): Promise<void> {
    for (const name of names)
      await turns.turn(name).catch((cause: unknown) => {
        failed = true;
        onError(cause);
      });
  }

  const ended = store.endedOccurrences(destinations, otherwise);
  let someEnded = false;

  const due = makeDueClock({
    async move() {
      failed = false;
      const open = someEnded ? await store.openNames(database) : [];
      someEnded = false;
      await turnAll([...new Set([...open, ...(await store.dueNames(database))])]);
      const nextMs = await store.nextDueMs(database);
      return failed ? Math.max(tryAgainMs, nextMs ?? 0) : nextMs;
    },
    onError,
  });

  const noteEnd = (inMs = 0) => {
    someEnded = true;
    due.note(inMs);
  };

  async function acting<T>(name: string, work: (held: Held) => Promise<T>): Promise<T> {
    let answer: { readonly value: T } | undefined;
    await turns.holding(name, async (held) => {
      answer = { value: await work(held) };
    });
    if (!answer) throw missing(name);
    due.note(0);
    return answer.value;
  }

  async function find(name: string): Promise<ScheduleReport> {
    const [report] = await store.readReports(database, name);
    if (!report) throw missing(name);
    return report;
  }

  /** What was due by the expression of before is treated by it, then the new one counts. */
  async function redeclare(by: string, settings: ScheduleSettings): Promise<boolean> {
    await turns.turn(settings.name);
    const known = await turns.holding(settings.name, async ({ tx, row }) => {
      await rewrite(tx, { row, settings, act: { by, reason: "declared so" } });
      return true;
    });
    return known === true;
  }

  async function declareOne(by: string, settings: ScheduleSettings): Promise<void> {
    if (await redeclare(by, settings)) return;
    const isNew = await database.transaction(async (tx) =>
      store.insertSchedule(tx, settings, timingOf(settings, await readNowMs(tx))),
    );
    if (!isNew) await redeclare(by, settings);
  }

  /** The instant whose window is to be run again. */
  async function instantFor({ tx, row, clockwork }: Held, dueMs: number | undefined) {
    const { recurrence } = clockwork;
    const wanted = dueMs ?? recurrence.previous(row.nowMs + 1);
    if (wanted === undefined) throw windowMissing(row.name, "nothing has been due yet; name the instant");
    const iso = new Date(wanted).toISOString();
    if (wanted > row.nowMs) throw windowMissing(row.name, `its window is not over before ${iso}`);
    const known = await store.findOccurrence(tx, row.name, { dueMs: wanted });
    if (known) return { dueMs: wanted, windowStartMs: known.windowStartMs };
    if (recurrence.next(wanted - 1) !== wanted) throw windowMissing(row.name, `it is not due at ${iso}`);
    return { dueMs: wanted, windowStartMs: windowStartOf(clockwork, wanted) };
  }

  const schedules: Schedules = {
    async declare(by, definitions) {
      for (const definition of definitions) await declareOne(by, settingsOf(definition));
      if (definitions.length > 0) due.note(0);
    },
    list: () => store.readReports(database, null),
    find,
    async occurrences(name, limit = 100) {
      await find(name);
      return store.readOccurrences(database, name, limit);
    },
    async next(name, count = 10) {
      const upcoming: Upcoming[] = [];
      await acting(name, async ({ row, clockwork, closedAt }) => {
        let at =
          row.nextDueMs === null
            ? undefined
            : clockwork.recurrence.next(Math.max(row.nextDueMs - 1, row.nowMs));
        for (; at !== undefined && upcoming.length < count; at = clockwork.recurrence.next(at))
          upcoming.push(upcomingOf(at, leftOutBefore(clockwork, at), closedAt(at)));
      });
      return upcoming;
    },
    async pause(name, act) {
      await acting(name, ({ tx, row }) => change.pause(tx, row, act));
      return find(name);
    },
    async resume(name, act) {
      await acting(name, ({ tx, row }) => change.resume(tx, row, act));
      return find(name);
    },
    run: (name, act) =>
      acting(name, async (held) => {
        const { tx, row } = held;
        const of = await instantFor(held, act.dueMs);
        const run = await store.nextRunOf(tx, name, of.dueMs);
        const decision = { ...of, state: "waiting" as const, reason: act.reason, beginAtMs: null };
        await store.insertOccurrences(tx, row, [decision], { run, actor: act.by });
        await audit(tx, "run", name, act, { scheduledAt: new Date(of.dueMs).toISOString(), run });
        await turns.beginWaiting(held, await turns.settle(held));
        return (await store.findOccurrence(tx, name, { dueMs: of.dueMs, run }))!;
      }),
    remove: (name, act) =>
      acting(name, async ({ tx }) => {
        await store.removeSchedule(tx, name);
        await audit(tx, "remove", name, act);
      }),
    sweep() {
      someEnded = true;
      return due.sweep();
    },
    arrangements: makeArrangements({ database, turns, onChanged: () => due.note(0) }),
    groups: makeGroups(database),
  };

  return {
    schedules,
    agenda: [dueAgendum(store.nextDueInstant, due.note), workAgendum(ended, () => noteEnd())],
    lookSoon: () => noteEnd(lookWithinMs),
    async tidy() {
      await turnAll(await store.openNames(database));
      await store.forgetOccurrences(database);
    },
    close: due.close,
  };
}

const upcomingOf = (dueMs: number, leftOut: readonly string[], closed: Closed | undefined): Upcoming => ({
  dueMs,
  leftOut,
  holiday: closed?.date ?? null,
  movedToMs: closed?.movedToMs ?? null,
});

const windowMissing = (name: string, why: string) =>
  scheduleErrors.error("TUNTAS_SCHEDULE_WINDOW", `schedule ${JSON.stringify(name)}: ${why}`);
