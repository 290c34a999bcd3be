// Work that any one process does once in a while for all of them. Nobody is elected: its next instant stands in a row,
// the heartbeat looks there, and whoever finds it passed puts it off and does the work.
import type { Sql } from "../pg/contract.ts";
import { statement } from "../pg/database.ts";
import { inMs, type Agendum } from "./agenda.ts";
import { makeDueClock } from "./due.ts";

const everySeconds = 60;
/** How much longer what is due is left while nothing changes: then only what time alone ends is to be removed. */
const restSeconds = 540;

const register = statement(
  "insert into tuntas.chore (name, due) values ($1, tuntas.now()) on conflict (name) do nothing",
);

const claim = statement(
  `update tuntas.chore set due = tuntas.now() + make_interval(secs => $2) where name = $1 and due + make_interval(secs => $3) <= tuntas.now() returning name`,
);

export interface ChoreOptions {
  readonly database: Pick<Sql, "run">;
  readonly name: string;
  readonly isStill: () => boolean;
  /** Done one after another. */
  readonly work: readonly (() => Promise<unknown>)[];
  readonly onError: (cause: unknown) => void;
}

export interface Chore {
  readonly agendum: Agendum;
  register(): Promise<unknown>;
  close(): Promise<void>;
}

/** Done once a minute in one process of all, and every ten minutes while nothing changes. */
export function makeChore({ database, name, isStill, work, onError }: ChoreOptions): Chore {
  const rest = () => (isStill() ? restSeconds : 0);
  const clock = makeDueClock({
    async move() {
      if ((await database.run(claim, [name, everySeconds, rest()])).length > 0)
        for (const each of work) await each();
      return null;
    },
    onError,
  });
  return {
    agendum: {
      ask: inMs(`(select due + make_interval(secs => $given) from tuntas.chore where name = '${name}')`),
      given: { type: "float8", read: rest },
      hear: (answer) => answer !== null && clock.note(answer as number),
    },
    register: () => database.run(register, [name]),
    close: clock.close,
  };
}

/** Whoever stops waits for a sweep that is under way, so it does not go on for longer; the next one goes on. */
const longestMs = 3000;

/**
 * Removes what is over, one batch after another, each in a commit of its own, until one is not full; answers how many.
 * Without a limit a statement would hold locks, and pin the vacuum, for as long as a backlog takes; one batch a minute would
 * remove less than a busy system adds.
 */
export async function inBatches(full: number, remove: () => Promise<number>): Promise<number> {
  const overAtMs = performance.now() + longestMs;
  let total = 0;
  for (;;) {
    const removed = await remove();
    total += removed;
    if (removed < full || performance.now() > overAtMs) return total;
  }
}
