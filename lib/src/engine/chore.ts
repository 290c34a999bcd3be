// Work that any one process does once in a while for all of them. Nobody is elected: its next instant stands in a row,
// the heartbeat looks there, and whoever finds it passed puts it off and does the work.
import type { Sql } from "../pg/contract.ts";
import { statement } from "../pg/database.ts";

/** When the next chore is due. */
export const choreDue = "(select min(due) from tuntas.chore)";

const register = statement(
  "insert into tuntas.chore (name, due) values ($1, tuntas.now()) on conflict (name) do nothing",
);

export const registerChore = (sql: Pick<Sql, "run">, name: string) => sql.run(register, [name]);

const claim = statement(
  `update tuntas.chore set due = tuntas.now() + make_interval(secs => $2) where name = $1 and due <= tuntas.now() returning name`,
);

/** True in the one process that is to do it now. */
export const claimChore = async (sql: Pick<Sql, "run">, name: string, everyMs: number): Promise<boolean> =>
  (await sql.run(claim, [name, everyMs / 1000])).length > 0;

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
