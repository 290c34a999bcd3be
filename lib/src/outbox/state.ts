// What becomes of a row that its target has refused. Pure.
import { backoffMs } from "../core/backoff.ts";
import type { RefusalPolicy } from "./contract.ts";

export const defaultRefusals: RefusalPolicy = { refusalsMax: 10, backoff: { baseMs: 500, maxMs: 60_000 } };

export type Refusal = { readonly kind: "again"; readonly delayMs: number } | { readonly kind: "park" };

/** After the `refusals`-th refusal of its own. */
export function decideRefusal(refusals: number, policy: RefusalPolicy, random: number): Refusal {
  if (refusals >= policy.refusalsMax) return { kind: "park" };
  return { kind: "again", delayMs: backoffMs(policy.backoff, refusals, random) };
}

/** Rows in runs: those of one key one after another, in their order; a row without a key is a run of its own. */
export function runsOf<Row extends { readonly key: string | null }>(rows: readonly Row[]): Row[][] {
  const runs = new Map<string, Row[]>();
  const alone: Row[][] = [];
  for (const row of rows) {
    if (row.key === null) alone.push([row]);
    else runs.set(row.key, [...(runs.get(row.key) ?? []), row]);
  }
  return [...runs.values(), ...alone];
}
