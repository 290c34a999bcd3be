// Clearing up calls whose answer was lost: the provider is asked what became of them, or a person says so.
import { isUnavailable } from "../../engine/unavailable.ts";
import type { Sql } from "../../pg/contract.ts";
import type { Runner, Transaction } from "../../pg/join.ts";
import { join } from "../../pg/join.ts";
import { resultText } from "../canonical.ts";
import { ledgerErrors } from "../contract.ts";
import { ledgerSignals } from "../signals.ts";
import type { EffectRow, Finding } from "./contract.ts";
import type { Provider } from "./provider.ts";
import type { Settlement } from "./store.ts";
import { lapseEffects, settleEffect, takeForAsking, unknownEffects } from "./store.ts";

function settlementOf(finding: Finding, by: string): Settlement | undefined {
  if (finding.state === "unknown") return undefined;
  if (finding.state === "succeeded")
    return { state: "succeeded", response: resultText(finding.response), reference: finding.reference, by };
  if (finding.state === "refused") return { state: "failed", final: true, failure: finding, by };
  return {
    state: "failed",
    failure: { code: "TUNTAS_EFFECT_ABSENT", message: "the provider says that the call never happened" },
    by,
  };
}

/** Writes what somebody found out; undefined where that is nothing, or the row is settled. */
export async function settleAs(
  sql: Runner,
  row: EffectRow,
  { finding, by }: { finding: Finding; by: string },
): Promise<EffectRow | undefined> {
  const settlement = settlementOf(finding, by);
  if (!settlement) return undefined;
  const settled = await settleEffect(sql, row, settlement);
  if (settled)
    ledgerSignals.publish("effect.reconciled", {
      provider: row.provider,
      operation: row.operation,
      state: settled.state,
    });
  return settled;
}

/** Asks the provider about one call; undefined where it cannot say, or nobody declared how to ask. */
export async function askProvider(
  sql: Runner,
  provider: Provider,
  row: EffectRow,
): Promise<EffectRow | undefined> {
  const ask = provider.options.reconcile[row.operation];
  if (ask === undefined || ask === "manual") return undefined;
  const finding = await ask(row, AbortSignal.timeout(provider.timeoutMs)).catch((cause: unknown) => {
    if (isUnavailable(cause)) return { state: "unknown" } as const;
    throw cause;
  });
  if (finding.state === "absent" && row.calledAgoMs < provider.arrivesWithinMs) return undefined;
  return settleAs(sql, row, { finding, by: "reconcile" });
}

const askable = ({ options: { reconcile } }: Provider): string[] =>
  Object.keys(reconcile).filter((operation) => reconcile[operation] !== "manual");

/** Makes overdue calls unknown, then asks each provider about its own. Answers how many were cleared up. */
export async function reconcileEffects(
  sql: Sql,
  providers: readonly Provider[],
  onError: (cause: unknown) => void,
): Promise<number> {
  for (const { provider, operation } of await lapseEffects(sql))
    ledgerSignals.publish("effect.unknown", { provider, operation, count: 1 });
  let count = 0;
  for (const provider of providers) {
    const operations = askable(provider);
    if (operations.length === 0) continue;
    for (const row of await takeForAsking(sql, provider.options.name, operations)) {
      const settled = await askProvider(sql, provider, row).catch(onError);
      count += Number(settled !== undefined);
    }
  }
  return count;
}

const namedMax = 10;

const nameOf = ({ id, provider, operation, key, caller, subject }: EffectRow): string =>
  `${provider} ${operation} ${key} (side effect ${id} of ${subject ?? caller ?? "nobody"})`;

/**
 * Refuses a redrive or a replay of work of which a side effect is unknown. The work is a subject, the id of a message,
 * the ARN of an execution, or several of them. Errors: TUNTAS_REDRIVE_REFUSED, which names the rows.
 */
export async function assertRedrivable(sql: Transaction, work: string | readonly string[]): Promise<void> {
  const asked = typeof work === "string" ? [work] : work;
  const rows = asked.length === 0 ? [] : await unknownEffects(join(sql), { work: asked });
  if (rows.length === 0) return;
  const named = rows.slice(0, namedMax).map(nameOf).join(", ");
  const more = rows.length > namedMax ? `, and ${rows.length - namedMax} more` : "";
  throw ledgerErrors.error(
    "TUNTAS_REDRIVE_REFUSED",
    `nothing was done; expected to know what became of every side effect, but not of ${named}${more}`,
    { details: { ids: rows.map((row) => row.id) } },
  );
}
