// The statements of the schedule room: one function a transition. Whoever changes a schedule or its occurrences holds the
// schedule's row, so that of two processes that look at once the second finds what the first has done.
import type { Tx } from "../pg/contract.ts";
import { statement } from "../pg/database.ts";
import { interval, ms } from "../pg/instant.ts";
import type { Runner } from "../pg/join.ts";
import type { Decision } from "./state.ts";
import type { Destination, Fate } from "../engine/destination.ts";
import type { Occurrence, Overlap, ScheduleReport } from "./contract.ts";
import type { ArrangedRow, ScheduleSettings } from "./settings.ts";

const at = (parameter: string) => `to_timestamp(${parameter}::float8 / 1000)`;

export interface ScheduleRow extends ArrangedRow {
  readonly overlap: Overlap;
  readonly anchorMs: number;
  readonly coveredUntilMs: number;
  readonly nextDueMs: number | null;
  /** The database's clock. */
  readonly nowMs: number;
}

/** What is kept as milliseconds here and not there. */
type Kind = "interval" | "instant";

/** The columns of what is said of a schedule, in the order of the statements' parameters; the first is its key. */
const settings: readonly (readonly [column: string, setting: keyof ScheduleSettings, kind?: Kind])[] = [
  ["name", "name"],
  ["account", "account"],
  ["region", "region"],
  ["group_name", "group"],
  ["expression", "expression"],
  ["time_zone", "timeZone"],
  ["starts", "startsMs", "instant"],
  ["ends", "endsMs", "instant"],
  ["flexible", "flexibleMs", "interval"],
  ["target_kind", "targetKind"],
  ["target_name", "targetName"],
  ["input", "input"],
  ["is_template", "isTemplate"],
  ["extras", "extras"],
  ["overlap", "overlap"],
  ["catch_up", "catchUp"],
  ["catch_up_within", "catchUpWithinMs", "interval"],
  ["succeeds_within", "succeedsWithinMs", "interval"],
  ["retention", "retentionMs", "interval"],
  ["retries_max", "retriesMax"],
  ["retry_within", "retryWithinMs", "interval"],
  ["dead_letter", "deadLetter"],
  ["holidays", "holidays"],
  ["afterwards", "afterwards"],
  ["owner", "owner"],
  ["runbook", "runbook"],
  ["description", "description"],
  ["request", "request"],
];

const written = (kind: Kind | undefined, parameter: string): string =>
  kind === "interval" ? interval(parameter) : kind === "instant" ? at(parameter) : parameter;

const columnNames = settings.map(([column]) => column).join(", ");
const columnValues = settings.map(([, , kind], index) => written(kind, `$${index + 1}`)).join(", ");
export const settingColumns = settings
  .map(
    ([column, setting, kind]) => `${kind === undefined ? `s.${column}` : ms(`s.${column}`)} as "${setting}"`,
  )
  .join(", ");
const settingValues = (of: ScheduleSettings): unknown[] => settings.map(([, setting]) => of[setting]);

const lock = statement(
  `select ${settingColumns}, ${ms("s.anchor")} as "anchorMs", ${ms("s.covered_until")} as "coveredUntilMs",
     ${ms("s.next_due")} as "nextDueMs", ${ms("s.paused_at")} as "pausedAtMs", ${ms("s.created_at")} as "createdAtMs",
     ${ms("s.changed_at")} as "changedAtMs", ${ms("tuntas.now()")} as "nowMs"
   from tuntas.schedule s where s.name = $1 for update`,
);

export const lockSchedule = async (tx: Tx, name: string): Promise<ScheduleRow | undefined> =>
  (await tx.run<ScheduleRow & {}>(lock, [name]))[0];

/** When a schedule is next due, or an occurrence that waits for its time: the ends of two indexes. */
export const nextDueInstant = `least((select min(next_due) from tuntas.schedule where paused_at is null and next_due is not null),
  (select min(begin_at) from tuntas.occurrence where begin_at is not null))`;

const nextDue = statement(`select ${ms(`${nextDueInstant} - tuntas.now()`)} as "inMs"`);

export const nextDueMs = async (sql: Runner): Promise<number | null> =>
  (await sql.run<{ inMs: number | null }>(nextDue))[0]!.inMs;

export type Destinations = (kind: string) => Destination;

/** The names of kinds come from code, so they are quoted and not parameters: this is a part of the heartbeat. */
const endedBy = (bound: ReadonlyMap<string, Destination>, otherwise: Destination): string =>
  `case o.target_kind ${[...bound]
    .map(([kind, { hasEnded }]) => `when '${kind}' then ${hasEnded("o.reference")}`)
    .join(" ")} else ${otherwise.hasEnded("o.reference")} end`;

/** Rows of occurrences whose work has ended, unnoticed yet. */
export const endedOccurrences = (bound: ReadonlyMap<string, Destination>, otherwise: Destination): string =>
  `select from tuntas.occurrence o where o.ended_at is null and o.state = 'started' and ${endedBy(bound, otherwise)}`;

const due = statement(
  `(select name from tuntas.schedule where paused_at is null and next_due <= tuntas.now() order by next_due limit 100)
   union (select schedule from tuntas.occurrence where begin_at <= tuntas.now() order by begin_at limit 100)`,
);
const open = statement(`select distinct schedule as name from tuntas.occurrence where ended_at is null`);

export const dueNames = async (sql: Runner): Promise<string[]> =>
  (await sql.run<{ name: string }>(due)).map(({ name }) => name);
export const openNames = async (sql: Runner): Promise<string[]> =>
  (await sql.run<{ name: string }>(open)).map(({ name }) => name);

const timingAt = settings.length + 1;
const [anchor, coveredUntil, nextDueAt] = [0, 1, 2].map((offset) => at(`$${timingAt + offset}`));
const succeedsWithin = interval(`$${settings.findIndex(([column]) => column === "succeeds_within") + 1}`);

const insert = statement(
  `insert into tuntas.schedule as s (${columnNames}, anchor, covered_until, next_due, expected_by, created_at, changed_at)
   values (${columnValues}, ${anchor}, ${coveredUntil}, ${nextDueAt}, ${nextDueAt} + ${succeedsWithin}, tuntas.now(), tuntas.now())
   on conflict (name) do nothing returning name`,
);

export interface Timing {
  readonly anchorMs: number;
  readonly coveredUntilMs: number;
  readonly nextDueMs: number | null;
}

const timingValues = ({ anchorMs, coveredUntilMs, nextDueMs }: Timing): unknown[] => [
  anchorMs,
  coveredUntilMs,
  nextDueMs,
];

/** False where another process has just declared it. */
export const insertSchedule = async (tx: Tx, settings: ScheduleSettings, timing: Timing): Promise<boolean> =>
  (await tx.run(insert, [...settingValues(settings), ...timingValues(timing)])).length === 1;

const update = statement(
  `update tuntas.schedule s set (${columnNames}) = row (${columnValues}), changed_at = tuntas.now(),
     expected_by = coalesce(expected_by - succeeds_within, next_due) + ${succeedsWithin}
   where name = $1`,
);

export const updateSettings = (tx: Tx, settings: ScheduleSettings) => tx.run(update, settingValues(settings));

const retime = statement(
  `update tuntas.schedule set anchor = ${at("$2")}, covered_until = ${at("$3")}, next_due = ${at("$4")},
     expected_by = ${at("$4")} + succeeds_within where name = $1`,
);

/** Another expression or zone counts from now on. */
export const retimeSchedule = (tx: Tx, name: string, timing: Timing) =>
  tx.run(retime, [name, ...timingValues(timing)]);

const advance = statement(
  `update tuntas.schedule set covered_until = ${at("$2")}, next_due = ${at("$3")} where name = $1`,
);

export const advanceSchedule = (tx: Tx, name: string, coveredUntilMs: number, nextDueMs: number | null) =>
  tx.run(advance, [name, coveredUntilMs, nextDueMs]);

const success = statement(
  `update tuntas.schedule set last_success_at = tuntas.now(),
     expected_by = case when $2::float8 is null then null else greatest(expected_by, ${at("$2")} + succeeds_within) end where name = $1`,
);

/** A success was seen; the next is expected for the instant. */
export const noteSuccess = (tx: Tx, name: string, nextDueMs: number | null) =>
  tx.run(success, [name, nextDueMs]);

const expectLater = statement(
  `update tuntas.schedule set expected_by = greatest(expected_by, ${at("$2")} + succeeds_within)
   where name = $1 and expected_by >= tuntas.now()`,
);

/** No success is expected before the one of the instant, unless one is missing already. */
export const expectSuccessOf = (tx: Tx, name: string, dueMs: number) => tx.run(expectLater, [name, dueMs]);

const pause = statement(
  `update tuntas.schedule set paused_at = tuntas.now(), paused_by = $2, paused_reason = $3 where name = $1`,
);
const resume = statement(
  `update tuntas.schedule set paused_at = null, paused_by = null, paused_reason = null where name = $1`,
);
const remove = statement(`delete from tuntas.schedule where name = $1`);

export const pauseSchedule = (tx: Tx, name: string, by: string, reason: string) =>
  tx.run(pause, [name, by, reason]);
export const resumeSchedule = (tx: Tx, name: string) => tx.run(resume, [name]);
export const removeSchedule = (tx: Tx, name: string) => tx.run(remove, [name]);

const over = statement(
  `select s.next_due is null and not exists (select from tuntas.occurrence o where o.schedule = s.name and o.state = 'waiting' and o.ended_at is null)
     and exists (select from tuntas.occurrence o where o.schedule = s.name) as over
   from tuntas.schedule s where s.name = $1`,
);

/** Whether everything of it has become due, and its work was begun or given up. */
export const isOver = async (tx: Tx, name: string): Promise<boolean> =>
  (await tx.run<{ over: boolean }>(over, [name]))[0]!.over;

const occurrenceColumns = `${ms("o.due")} as "dueMs", o.run, ${ms("o.window_start")} as "windowStartMs", ${ms("o.window_end")} as "windowEndMs",
  o.state, o.reason, o.actor, o.target_kind as kind, o.target_name as target, o.reference, ${ms("o.decided_at")} as "decidedAtMs",
  ${ms("o.begin_at")} as "beginAtMs", o.tries, ${ms("o.tried_at")} as "triedAtMs", ${ms("o.started_at")} as "startedAtMs",
  ${ms("o.ended_at")} as "endedAtMs", o.records_written::float8 as "recordsWritten"`;

type OccurrenceRow = Omit<Open, "target"> & { readonly kind: string; readonly target: string };

const toOpen = ({ kind, target, ...rest }: OccurrenceRow): Open => ({
  ...rest,
  target: { kind, name: target },
});

const toOccurrence = (row: OccurrenceRow): Occurrence => {
  const { triedAtMs: _, ...occurrence } = toOpen(row);
  return occurrence;
};

/** What an occurrence of a schedule is told by. */
export type Instant = Pick<Occurrence, "dueMs" | "run">;

/** An occurrence that runs or waits. */
export interface Open extends Occurrence {
  /** Since when it has been tried in vain. */
  readonly triedAtMs: number | null;
}

const openOf = statement(
  `select ${occurrenceColumns} from tuntas.occurrence o where o.schedule = $1 and o.ended_at is null order by o.due, o.run`,
);

/** What runs and what waits, in the order in which it was due. */
export const openOccurrences = async (tx: Tx, name: string): Promise<Open[]> =>
  (await tx.run<OccurrenceRow & {}>(openOf, [name])).map(toOpen);

const add = statement(
  `insert into tuntas.occurrence (schedule, due, run, window_start, window_end, state, reason, actor, target_kind, target_name, decided_at,
     begin_at, started_at, ended_at)
   select $1, ${at("u.due")}, $2, ${at("u.start")}, ${at("u.due")}, u.state, u.reason, $3, $4, $5, tuntas.now(), ${at("u.begin")},
     case when u.state = 'started' then tuntas.now() end, case when u.state in ('skipped', 'missed') then tuntas.now() end
   from unnest($6::float8[], $7::float8[], $8::text[], $9::text[], $10::float8[]) as u(due, start, state, reason, begin)`,
);

export const insertOccurrences = (
  tx: Tx,
  { name, targetKind, targetName }: Pick<ScheduleRow, "name" | "targetKind" | "targetName">,
  decisions: readonly Decision[],
  { run = 0, actor = null }: { readonly run?: number; readonly actor?: string | null } = {},
) =>
  tx.run(add, [
    name,
    run,
    actor,
    targetKind,
    targetName,
    decisions.map(({ dueMs }) => dueMs),
    decisions.map(({ windowStartMs }) => windowStartMs),
    decisions.map(({ state }) => state),
    decisions.map(({ reason }) => reason),
    decisions.map(({ beginAtMs }) => beginAtMs),
  ]);

const nextRun = statement(
  `select coalesce(max(run), 0) + 1 as run from tuntas.occurrence where schedule = $1 and due = ${at("$2")}`,
);

export const nextRunOf = async (tx: Tx, name: string, dueMs: number): Promise<number> =>
  (await tx.run<{ run: number }>(nextRun, [name, dueMs]))[0]!.run;

const start = statement(
  `update tuntas.occurrence set state = 'started', target_kind = $4, target_name = $5, reference = $6,
     started_at = coalesce(started_at, tuntas.now()), begin_at = null
   where schedule = $1 and due = ${at("$2")} and run = $3`,
);

/** Its work goes where the schedule says by now, which may have been changed while the occurrence waited. */
export const startOccurrence = (
  tx: Tx,
  { name, targetKind, targetName }: Pick<ScheduleRow, "name" | "targetKind" | "targetName">,
  { dueMs, run, reference }: Instant & { readonly reference: string },
) => tx.run(start, [name, dueMs, run, targetKind, targetName, reference]);

const delay = statement(
  `update tuntas.occurrence set state = 'waiting', started_at = null, begin_at = ${at("$4")}, reason = $5, tries = tries + 1,
     tried_at = coalesce(tried_at, tuntas.now())
   where schedule = $1 and due = ${at("$2")} and run = $3`,
);

/** Its work could not be begun, and is tried again then. */
export const delayOccurrence = (
  tx: Tx,
  name: string,
  { dueMs, run }: Instant,
  { beginAtMs, reason }: { readonly beginAtMs: number; readonly reason: string },
) => tx.run(delay, [name, dueMs, run, beginAtMs, reason]);

const giveUp = statement(
  `update tuntas.occurrence set state = 'failed', started_at = coalesce(tried_at, tuntas.now()), ended_at = tuntas.now(), begin_at = null,
     reason = $4, tries = tries + 1, tried_at = coalesce(tried_at, tuntas.now())
   where schedule = $1 and due = ${at("$2")} and run = $3`,
);

/** Its work could not be begun, and is not tried again. */
export const giveUpOccurrence = (tx: Tx, name: string, { dueMs, run }: Instant, reason: string) =>
  tx.run(giveUp, [name, dueMs, run, reason]);

const queueUp = statement(
  `update tuntas.occurrence set begin_at = null where schedule = $1 and begin_at <= tuntas.now() and state = 'waiting'`,
);

/** Those whose time has come while another runs wait for its end from now on, not for the clock. */
export const queueUpOccurrences = (tx: Tx, name: string) => tx.run(queueUp, [name]);

const settle = statement(
  `update tuntas.occurrence o set state = u.state, reason = coalesce(u.reason, o.reason), ended_at = tuntas.now(),
     records_written = u.written
   from unnest($2::text[], $3::text[], $4::text[], $5::bigint[]) as u(reference, state, reason, written)
   where o.schedule = $1 and o.ended_at is null and o.reference = u.reference and o.state = 'started' returning ${occurrenceColumns}`,
);

/** Ends occurrences as their work has ended; answers those that did not have an end. */
export const settleOccurrences = async (
  tx: Tx,
  name: string,
  fates: readonly Fate[],
): Promise<Occurrence[]> => {
  const values = [
    fates.map((each) => each.reference),
    fates.map((each) => each.state),
    fates.map((each) => each.reason),
    fates.map((each) => each.recordsWritten ?? null),
  ];
  return (await tx.run<OccurrenceRow & {}>(settle, [name, ...values])).map(toOccurrence);
};

const forget = statement(
  `delete from tuntas.occurrence o using tuntas.schedule s
   where s.name = o.schedule and o.ended_at is not null and o.ended_at < tuntas.now() - s.retention`,
);

/** Ended occurrences beyond their schedule's retention. */
export const forgetOccurrences = (sql: Runner) => sql.run(forget);

const reports = statement(
  `select s.name, s.expression, s.time_zone as "timeZone", json_build_object('kind', s.target_kind, 'name', s.target_name) as target,
     s.overlap, s.catch_up as "catchUp", s.owner, s.runbook, ${ms("s.next_due")} as "nextDueMs", ${ms("s.expected_by")} as "expectedByMs",
     coalesce(s.expected_by < tuntas.now(), false) as overdue, ${ms("s.last_success_at")} as "lastSuccessAtMs",
     ${ms("s.paused_at")} as "pausedAtMs", s.paused_by as "pausedBy", s.paused_reason as "pausedReason",
     coalesce(o.running, 0)::int as running, coalesce(o.waiting, 0)::int as waiting, (
       select json_build_object('dueMs', ${ms("l.due")}, 'run', l.run, 'state', l.state, 'reason', l.reason)
       from tuntas.occurrence l where l.schedule = s.name order by l.due desc, l.run desc limit 1) as last
   from tuntas.schedule s left join (
     select schedule, count(*) filter (where state = 'started') as running, count(*) filter (where state = 'waiting') as waiting
     from tuntas.occurrence where ended_at is null group by schedule) o on o.schedule = s.name
   where $1::text is null or s.name = $1 order by s.name`,
);

export const readReports = (sql: Runner, name: string | null): Promise<ScheduleReport[]> =>
  sql.run<ScheduleReport & {}>(reports, [name]);

const history = statement(
  `select ${occurrenceColumns} from tuntas.occurrence o where o.schedule = $1 order by o.due desc, o.run desc limit $2`,
);

/** The latest first. */
export const readOccurrences = async (sql: Runner, name: string, limit: number): Promise<Occurrence[]> =>
  (await sql.run<OccurrenceRow & {}>(history, [name, limit])).map(toOccurrence);

const find = statement(
  `select ${occurrenceColumns} from tuntas.occurrence o where o.schedule = $1 and o.due = ${at("$2")} and ($3::int is null or o.run = $3)
   order by o.run limit 1`,
);

/** The occurrence of the instant: the one with the number, else the schedule's own where there is one. */
export const findOccurrence = async (
  sql: Runner,
  name: string,
  { dueMs, run }: { readonly dueMs: number; readonly run?: number },
): Promise<Occurrence | undefined> =>
  (await sql.run<OccurrenceRow & {}>(find, [name, dueMs, run ?? null])).map(toOccurrence)[0];
