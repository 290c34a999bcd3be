import { statement } from "../../pg/database.ts";
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
  `select ${columns} from tuntas.discrepancy where state = any($1::text[]) and ($2::text is null or name = $2) order by id limit 1000`,
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
