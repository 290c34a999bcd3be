// Comparing two views. Pure.
import type { Difference, Judgement, ReconciliationOptions, View } from "./contract.ts";

export interface Judged extends Difference {
  readonly judgement: Exclude<Judgement, "sound">;
}

const byEquality = ({ source, derived }: Difference): Judgement => (source === derived ? "sound" : "broken");

/** Every key of either side on which they do not agree. */
export function compare(
  source: View,
  derived: View,
  judge: ReconciliationOptions["judge"] = byEquality,
): { compared: number; found: Judged[] } {
  const keys = [...new Set([...source.keys(), ...derived.keys()])].toSorted();
  const found = keys.flatMap((key) => {
    const difference = { key, source: source.get(key), derived: derived.get(key) };
    const judgement = judge(difference);
    return judgement === "sound" ? [] : [{ ...difference, judgement }];
  });
  return { compared: keys.length, found };
}
