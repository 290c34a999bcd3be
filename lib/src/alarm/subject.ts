// What an alarm watches in one place: the labels of a series that the alarm itself does not name.
import type { Labels } from "../series/contract.ts";

/** The labels of the series, without those that the alarm fixes. */
export const subjectLabels = (labels: Labels, fixed: Labels = {}): Labels =>
  Object.fromEntries(Object.entries(labels).filter(([label]) => !(label in fixed)));

/** One label as its value, several as `kind=queue, name=orders`. */
export function subjectText(labels: Labels): string {
  const entries = Object.entries(labels);
  return entries.length === 1
    ? entries[0]![1]
    : entries.map(([label, value]) => `${label}=${value}`).join(", ");
}
