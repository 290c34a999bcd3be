// What happened, state by state and arrow by arrow, for the picture of a run.
import type { Position, Visit, VisitOutcome } from "../../../../api/index.ts";
import { endName, startName } from "tuntas/asl/drawing";

export interface StateProgress {
  readonly outcome: VisitOutcome;
  readonly visits: number;
  /** Of the latest visit. */
  readonly attempts: number;
  readonly durationMs: number | null;
  readonly latest: number;
  readonly counts: Readonly<Partial<Record<VisitOutcome, number>>>;
}

export interface Progress {
  readonly states: ReadonlyMap<string, StateProgress>;
  /** `from\nto` of the arrows that were gone along. */
  readonly taken: ReadonlySet<string>;
}

// What a person should see first, where a state was visited many times.
const order: readonly VisitOutcome[] = ["running", "failed", "timed out", "aborted", "caught", "succeeded"];

function progressOf(visits: readonly Visit[]): StateProgress {
  const counts: Partial<Record<VisitOutcome, number>> = {};
  for (const { outcome } of visits) counts[outcome] = (counts[outcome] ?? 0) + 1;
  const outcome = order.find((each) => counts[each] !== undefined)!;
  const shown = visits.findLast((visit) => visit.outcome === outcome)!;
  const { enteredAtMs, exitedAtMs, attempts, id } = shown;
  const durationMs = exitedAtMs === null ? null : exitedAtMs - enteredAtMs;
  return { outcome, visits: visits.length, attempts: attempts.length, durationMs, latest: id, counts };
}

const lineOf = ({ parent, item }: Visit): string => `${parent}/${item}`;

/** Which visit followed which, on each line of control. Branches of a Parallel share a line, but never an arrow. */
function takenBy(visits: readonly Visit[], hasSucceeded: boolean): Set<string> {
  const taken = new Set<string>();
  const lines = Map.groupBy(visits, lineOf);
  for (const line of lines.values())
    for (const [index, visit] of line.entries())
      for (const next of line.slice(index + 1)) {
        if (visit.exitedAtMs === null || next.enteredAtMs < visit.exitedAtMs) continue;
        taken.add(`${visit.state}\n${next.state}`);
        break;
      }
  const roots = visits.filter(({ parent }) => parent === null);
  if (roots[0]) taken.add(`${startName}\n${roots[0].state}`);
  if (hasSucceeded) taken.add(`${roots.at(-1)?.state}\n${endName}`);
  return taken;
}

export function progressIn(visits: readonly Visit[], hasSucceeded: boolean): Progress {
  const byState = Map.groupBy(visits, ({ state }) => state);
  const states = new Map([...byState].map(([state, own]) => [state, progressOf(own)]));
  return { states, taken: takenBy(visits, hasSucceeded) };
}

export const positionAt = (positions: readonly Position[], state: string): Position | undefined =>
  positions.find((each) => each.state === state && each.hold !== "halted");
