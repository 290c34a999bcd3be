// The five steps: read the truth, read what follows from it, compare by a named invariant, write the report, and repair
// what a person has approved.
import { writeAudit } from "../../engine/audit.ts";
import type { Sql, Tx } from "../../pg/contract.ts";
import { ledgerErrors } from "../contract.ts";
import { onRecord } from "../operator.ts";
import { ledgerSignals } from "../signals.ts";
import type { Decision, Difference, Discrepancy, Reconciliation, RunReport } from "./contract.ts";
import { compare } from "./state.ts";
import {
  findDiscrepancy,
  listByState,
  markGone,
  takeForRepair,
  writeDecision,
  writeDiscrepancies,
  writeRun,
} from "./store.ts";

/** Compares and reports; repairs nothing. Safe to run again and side by side: a discrepancy stands once. */
export async function reconcile(sql: Sql, { options }: Reconciliation): Promise<RunReport> {
  const startedAt = performance.now();
  const [source, derived] = [await options.source(sql), await options.derived(sql)];
  const { compared, found } = compare(source, derived, options.judge);
  const report = await sql.transaction(async (tx) => {
    const runId = await writeRun(tx, options, {
      compared,
      found: found.length,
      durationMs: performance.now() - startedAt,
    });
    return { runId, added: await writeDiscrepancies(tx, { options, runId, found }) };
  });
  const { name, invariant } = options;
  ledgerSignals.publish("reconciliation.run", { name, compared, found: found.length });
  return { ...report, name, invariant, compared, found: found.length };
}

/** What stands and waits for somebody, oldest first. */
export const standing = (sql: Sql, name?: string): Promise<Discrepancy[]> =>
  listByState(sql, ["open", "manual", "approved"], name);

const stateError = (id: string, expected: string, found: Discrepancy | undefined) =>
  ledgerErrors.error(
    "TUNTAS_DISCREPANCY_STATE",
    `discrepancy ${id}: expected ${expected}, got ${found?.state ?? "an unknown id"}`,
  );

async function decideOn(
  sql: Sql,
  id: string,
  decision: Decision & { state: "approved" | "dismissed" },
): Promise<Discrepancy> {
  const approves = decision.state === "approved";
  return onRecord(sql, {
    ...decision,
    action: approves ? "discrepancy.approve" : "discrepancy.dismiss",
    subject: `discrepancy ${id}`,
    details: ({ name, key, anomaly, source, derived }) => ({ name, key, anomaly, source, derived }),
    async work(tx) {
      const decided = await writeDecision(tx, id, decision);
      if (decided) return decided;
      const expected = approves ? "an open one with a repair" : "one that stands undecided";
      throw stateError(id, expected, await findDiscrepancy(tx, id));
    },
  });
}

/** Approves the repair of one discrepancy. Errors: TUNTAS_DISCREPANCY_STATE. */
export const approveRepair = (sql: Sql, id: string, decision: Decision): Promise<Discrepancy> =>
  decideOn(sql, id, { ...decision, state: "approved" });

/** Lets a discrepancy be, or says that a person has dealt with it. Errors: TUNTAS_DISCREPANCY_STATE. */
export const dismiss = (sql: Sql, id: string, decision: Decision): Promise<Discrepancy> =>
  decideOn(sql, id, { ...decision, state: "dismissed" });

async function differenceNow(sql: Sql, { options }: Reconciliation, key: string): Promise<Difference> {
  const [source, derived] = [await options.source(sql), await options.derived(sql)];
  return { key, source: source.get(key), derived: derived.get(key) };
}

/**
 * Repairs one approved discrepancy, once, on the record as done by whoever approved it unless `by` says who it is. One
 * that has gone by itself in the meantime is dismissed instead. Errors:
 * TUNTAS_REPAIR_UNAPPROVED, TUNTAS_DISCREPANCY_STATE, and whatever the repair throws (it stays approved).
 */
export async function repair(
  sql: Sql,
  declared: Reconciliation,
  id: string,
  by?: string,
): Promise<"repaired" | "gone"> {
  const { name, repair: mend, judge } = declared.options;
  const found = await findDiscrepancy(sql, id);
  if (!mend || found?.name !== name) throw stateError(id, `one of ${name} that has a repair`, found);
  if (found.state !== "approved")
    throw ledgerErrors.error(
      "TUNTAS_REPAIR_UNAPPROVED",
      `discrepancy ${id}: expected an approved one, got ${found.state}`,
    );
  const difference = await differenceNow(sql, declared, found.key);
  const gone =
    compare(viewOf(difference.key, difference.source), viewOf(difference.key, difference.derived), judge)
      .found.length === 0;
  const took = await sql.transaction(async (tx) => {
    const taken = await takeForRepair(tx, id, name);
    if (taken && gone) await markGone(tx, id);
    else if (taken) await mend(tx, difference);
    if (taken) await noteRepair(tx, taken, { by, outcome: gone ? "gone" : "repaired" });
    return taken !== undefined;
  });
  if (!took) throw stateError(id, "an approved one", await findDiscrepancy(sql, id));
  if (gone) return "gone";
  ledgerSignals.publish("reconciliation.repaired", { name, anomalyType: found.anomaly });
  return "repaired";
}

const noteRepair = (
  tx: Tx,
  { id, name, key, anomaly, decidedBy, decidedReason }: Discrepancy,
  { by, outcome }: { by: string | undefined; outcome: string },
) =>
  writeAudit(tx, {
    actor: by ?? decidedBy!,
    action: "discrepancy.repair",
    subject: `discrepancy ${id}`,
    reason: decidedReason,
    details: { name, key, anomaly, outcome, approvedBy: decidedBy },
  });

const viewOf = (key: string, text: string | undefined): ReadonlyMap<string, string> =>
  new Map(text === undefined ? [] : [[key, text]]);
