import { stepsOf, textOf, type ChangeReport } from "tuntas/change";
import { instant, table } from "../../render.ts";

export const runningText = ({ live }: ChangeReport): string =>
  [...new Set(live.map(({ release }) => release))].join(", ") || "nothing";

export const changeTable = (changes: readonly ChangeReport[]): string =>
  table(changes, {
    CHANGE: (each) => each.name,
    OF: (each) => textOf(each.spec),
    STEP: (each) => each.step ?? "none",
    NEXT: (each) => each.next ?? "",
    RUNNING: runningText,
    "MAY START": (each) => each.mayStart.join(", "),
  });

/** Every step in its order, those that are still to come too. */
export function stepTable({ spec, steps }: ChangeReport): string {
  const rows = stepsOf[spec.kind].map((step) => ({ step, reached: steps[step] }));
  return table(rows, {
    STEP: ({ step }) => step,
    AT: ({ reached }) => instant(reached?.atMs ?? null),
    BY: ({ reached }) => reached?.by,
    WHY: ({ reached }) => reached?.reason,
    FOUND: ({ reached }) => reached?.found.join("; "),
  });
}
