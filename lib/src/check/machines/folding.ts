// A workflow that is a function written in states: dozens of them in rows, of which none has anything that only a state can have.
import type { Definition, Sighting } from "../contract.ts";
import { levelsOf, nextOf, type States } from "./states.ts";

/** Two dozen. Fewer may be there to be read. */
const foldableMin = 24;

/** A function's call that gives its result at once; a plain name is a task of one's own. */
const givesAtOnce = /^[\w-]+$|^arn:[\w-]+:lambda:|:::lambda:invoke$/;
/** What a line of code does not have: its own retry, way out or time. */
const onlyOfStates = ["Retry", "Catch", "TimeoutSeconds", "TimeoutSecondsPath"];

const onlyComputes = (state: Definition | undefined): boolean =>
  state !== undefined &&
  (state.Type === "Pass" || (state.Type === "Task" && givesAtOnce.test(String(state.Resource)))) &&
  onlyOfStates.every((field) => state[field] === undefined);

/** Rows of states that only compute, each reached from the one before and from nowhere else. */
function rowsOf(states: States): string[][] {
  const ways = Object.values(states).flatMap(nextOf);
  const isOnlyWay = (name: string): boolean => ways.filter((way) => way === name).length === 1;
  const after = (name: string): string | undefined => {
    const next = states[name]!.Next as string | undefined;
    return next !== undefined && onlyComputes(states[next]) && isOnlyWay(next) ? next : undefined;
  };
  const computing = Object.keys(states).filter((name) => onlyComputes(states[name]));
  const followers = new Set(computing.map(after));
  return computing
    .filter((name) => !followers.has(name))
    .map((name) => {
      const row = [name];
      for (let next = after(name); next !== undefined; next = after(next)) row.push(next);
      return row;
    });
}

function foldable(machine: Definition): string[][] {
  const rows = [...levelsOf(machine)].flatMap(rowsOf).filter(({ length }) => length > 1);
  return rows.flat().length < foldableMin ? [] : rows;
}

/** Whose states they are, and where each stands. */
export interface Whose {
  readonly name: string;
  readonly placeOf: (state: string) => string | undefined;
}

export function checkFolding(machine: Definition, { name, placeOf }: Whose): Sighting[] {
  const rows = foldable(machine);
  if (rows.length === 0) return [];
  const count = rows.flat().length;
  const message = `${name}: ${count} states only compute; each of these rows could be one: ${rows.map((row) => row.join(" → ")).join("; ")}`;
  return [{ rule: "states-that-compute", name, place: placeOf(rows[0]![0]!), message }];
}
