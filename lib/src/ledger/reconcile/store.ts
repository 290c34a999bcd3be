import { toMs } from "../../core/duration.ts";
import type { Failure } from "../../engine/failure.ts";
import { statement } from "../../pg/database.ts";
import { ms } from "../../pg/instant.ts";
import type { Runner } from "../../pg/join.ts";
import type { Decision, Discrepancy, DiscrepancyState, ReconciliationOptions } from "./contract.ts";
import type { Judged } from "./state.ts";

const columns = `id::text, name, invariant, anomaly, key, source, derived, state, decided_by as "decidedBy", decided_reason as "decidedReason"`;

const insertRun = statement(
  `insert into tuntas.reconciliation_run (name, invariant, compared, found, started_at, ended_at)
   values ($1, $2, $3, $4, tuntas.now() - make_interval(secs => $5::float8), tuntas.now()) returning id::text`,
);

export interface RunRow {
  readonly compared: number;
  readonly found: number;
  readonly durationMs: number;
}

export async function writeRun(
  tx: Runner,
  { name, invariant }: ReconciliationOptions,
  run: RunRow,
): Promise<string> {
  return (
    await tx.run<{ id: string }>(insertRun, [name, invariant, run.compared, run.found, run.durationMs / 1000])
  )[0]!.id;
}

const insertDiscrepancies = statement(
  `insert into tuntas.discrepancy (run_id, name, invariant, anomaly, key, source, derived, state, found_at)
   select $1::bigint, $2, $3, $4, u.key, u.source, u.derived, u.state, tuntas.now()
   from unnest($5::text[], $6::text[], $7::text[], $8::text[]) as u(key, source, derived, state)
   on conflict (name, key) where state in ('open', 'manual', 'approved') do nothing returning ${columns}`,
);

/** Writes those that do not stand already, however many runs look at once. */
export function writeDiscrepancies(
  tx: Runner,
  { options, runId, found }: { options: ReconciliationOptions; runId: string; found: readonly Judged[] },
): Promise<Discrepancy[]> {
  const { name, invariant, anomaly, repair } = options;
  return tx.run<Discrepancy & {}>(insertDiscrepancies, [
    runId,
    name,
    invariant,
    anomaly,
    found.map((each) => each.key),
    found.map((each) => each.source ?? null),
    found.map((each) => each.derived ?? null),
    found.map((each): DiscrepancyState => (each.judgement === "uncertain" || !repair ? "manual" : "open")),
  ]);
}

const decide = statement(
  `update tuntas.discrepancy set state = $2, decided_by = $3, decided_reason = $4, decided_at = tuntas.now()
   where id = $1 and (state = 'open' or (state = 'manual' and $2 = 'dismissed')) returning ${columns}`,
);

export async function writeDecision(
  tx: Runner,
  id: string,
  { state, by, reason }: Decision & { state: "approved" | "dismissed" },
) {
  return (await tx.run<Discrepancy & {}>(decide, [id, state, by, reason]))[0];
}

const repaired = statement(
  `update tuntas.discrepancy set state = 'repaired', repaired_at = tuntas.now() where id = $1 and name = $2 and state = 'approved' returning ${columns}`,
);

/** Marks an approved discrepancy as repaired, and locks it for this transaction; undefined where it is not approved. */
export const takeForRepair = async (tx: Runner, id: string, name: string) =>
  (await tx.run<Discrepancy & {}>(repaired, [id, name]))[0];

const dismissed = statement(
  `update tuntas.discrepancy set state = 'dismissed', repaired_at = null, decided_reason = decided_reason || ' (gone before its repair)' where id = $1 returning id`,
);

export const markGone = (tx: Runner, id: string) => tx.run(dismissed, [id]);

const find = statement(`select ${columns} from tuntas.discrepancy where id = $1`);

export const findDiscrepancy = async (sql: Runner, id: string) =>
  (await sql.run<Discrepancy & {}>(find, [id]))[0];

const list = statement(
  `select ${columns} from tuntas.discrepancy where state = any($1::text[]) and ($2::text is null or name = $2) order by discrepancy.id limit 1000`,
);

export const listByState = (
  sql: Runner,
  states: readonly DiscrepancyState[],
  name?: string,
): Promise<Discrepancy[]> => sql.run<Discrepancy & {}>(list, [states, name ?? null]);

const counts = statement(
  `select anomaly, count(*)::int as count from tuntas.discrepancy where state = 'repaired' group by anomaly order by anomaly`,
);

export const repairsByAnomaly = (sql: Runner): Promise<{ anomaly: string; count: number }[]> =>
  sql.run<{ anomaly: string; count: number }>(counts);

const register = statement(
  `insert into tuntas.reconciliation as r (name, invariant, anomaly, owner, of_kind, of_name, every_seconds, registered_at, next_at)
   select u.*, tuntas.now(), case when u.every is not null then tuntas.now() end
   from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::float8[]) as u(name, invariant, anomaly, owner, kind, of, every)
   order by u.name
   on conflict (name) do update set invariant = excluded.invariant, anomaly = excluded.anomaly, owner = excluded.owner,
     of_kind = excluded.of_kind, of_name = excluded.of_name, every_seconds = excluded.every_seconds, registered_at = excluded.registered_at,
     next_at = case when excluded.every_seconds is null then null
       else least(coalesce(r.next_at, excluded.registered_at), excluded.registered_at + make_interval(secs => excluded.every_seconds)) end`,
);

const secondsOf = ({ every }: ReconciliationOptions): number | null =>
  every === "on demand" ? null : toMs(every) / 1000;

/** Says what is declared; one that is known keeps its next instant, if its period is not shorter now. */
export const upsertRegistered = (sql: Runner, declared: readonly ReconciliationOptions[]) =>
  sql.run(register, [
    declared.map(({ name }) => name),
    declared.map(({ invariant }) => invariant),
    declared.map(({ anomaly }) => anomaly),
    declared.map(({ owner }) => owner),
    declared.map(({ of }) => of.kind),
    declared.map(({ of }) => of.name),
    declared.map(secondsOf),
  ]);

// Whoever claims has this long; a run that a dead process left is begun again after it. Two runs at once are harmless.
const claimSeconds = 300;

const claim = statement(
  `with due as (
     select name from tuntas.reconciliation where name = any($1::text[]) and next_at <= tuntas.now() for update skip locked
   ), claimed as (
     update tuntas.reconciliation r set next_at = tuntas.now() + make_interval(secs => ${claimSeconds}) from due where r.name = due.name
     returning r.name
   )
   select r.name, r.name in (select name from claimed) as claimed,
     coalesce(${ms("r.next_at - tuntas.now()")}, 0) as "nextMs"
   from tuntas.reconciliation r where r.name = any($1::text[])`,
);

export interface DueRow {
  readonly name: string;
  /** It was due, and is this process's to run. */
  readonly claimed: boolean;
  /** When it was next before the claim. */
  readonly nextMs: number;
}

export const claimDue = (sql: Runner, names: readonly string[]): Promise<DueRow[]> =>
  sql.run<DueRow & {}>(claim, [names]);

const ran = statement(
  `update tuntas.reconciliation set next_at = tuntas.now() + make_interval(secs => every_seconds),
     failure_code = $2, failure_message = $3, failed_at = case when $2::text is not null then tuntas.now() end where name = $1`,
);

/** It has run, or could not: the next time is a period from now. */
export const noteRun = (sql: Runner, name: string, failure: Failure | undefined) =>
  sql.run(ran, [name, failure?.code ?? null, failure?.message ?? null]);

export interface RegisteredRow {
  readonly name: string;
  readonly invariant: string;
  readonly owner: string;
  readonly ofKind: string;
  readonly ofName: string;
  readonly everyMs: number | null;
  /** Negative where it is overdue: no process has it registered. */
  readonly nextMs: number | null;
  readonly failureCode: string | null;
  readonly failureMessage: string | null;
  readonly lastRunAtMs: number | null;
  readonly compared: number | null;
  readonly found: number | null;
  /** What stands and waits for somebody. */
  readonly standing: number;
}

const registered = statement(
  `select r.name, r.invariant, r.owner, r.of_kind as "ofKind", r.of_name as "ofName", r.every_seconds * 1000 as "everyMs",
     ${ms("r.next_at - tuntas.now()")} as "nextMs", r.failure_code as "failureCode", r.failure_message as "failureMessage",
     ${ms("l.ended_at")} as "lastRunAtMs", l.compared::float8 as compared, l.found::float8 as found,
     (select count(*)::int from tuntas.discrepancy d where d.name = r.name and d.state in ('open', 'manual', 'approved')) as standing
   from tuntas.reconciliation r left join lateral (
     select * from tuntas.reconciliation_run x where x.name = r.name order by x.id desc limit 1) l on true
   order by r.name`,
);

/** What is registered, when each ran last and is next, and what it has found. */
export const listRegistered = (sql: Runner): Promise<RegisteredRow[]> =>
  sql.run<RegisteredRow & {}>(registered);

const runs = statement(
  `select id::text, name, compared::float8 as compared, found::float8 as found, ${ms("ended_at")} as "endedAtMs",
     ${ms("ended_at - started_at")} as "durationMs"
   from tuntas.reconciliation_run where $1::text is null or name = $1 order by reconciliation_run.id desc limit $2`,
);

export interface RunSummary extends RunRow {
  readonly id: string;
  readonly name: string;
  readonly endedAtMs: number;
}

/** The last runs, newest first. */
export const listRuns = (sql: Runner, name: string | undefined, rowsMax: number): Promise<RunSummary[]> =>
  sql.run<RunSummary & {}>(runs, [name ?? null, rowsMax]);
