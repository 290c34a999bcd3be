// Delivering to a target that lives in the same database: claim, delivery and publication are one transaction, so each
// row arrives exactly once. A batch that fails is tried row by row, each under its own savepoint.
import type { Receipt, Target, TargetName } from "../../engine/target.ts";
import { isUnavailable } from "../../engine/unavailable.ts";
import type { Sql, Tx } from "../../pg/contract.ts";
import { isTransient } from "../../pg/faults.ts";
import type { RefusalPolicy } from "../contract.ts";
import type { OutboxRow, Published, Returned } from "../store.ts";
import { claimRows, lockTarget, publishRows, returnRows } from "../store.ts";
import { announcePublished, announceReturn, returnOf, untried } from "./deliver.ts";
import { runsOf } from "../state.ts";

export interface Inward {
  readonly database: Sql;
  readonly target: TargetName;
  readonly deliverIn: Extract<Target, { deliverIn: unknown }>["deliverIn"];
  readonly policy: RefusalPolicy;
  readonly owner: string;
  readonly rowsMax: number;
}

interface Came {
  readonly published: readonly Published[];
  readonly returned: readonly Returned[];
}

async function underSavepoint<T>(tx: Tx, work: () => Promise<T>): Promise<T> {
  await tx.client.query("savepoint delivery");
  try {
    const value = await work();
    await tx.client.query("release savepoint delivery");
    return value;
  } catch (cause) {
    if (isTransient(cause)) throw cause;
    await tx.client.query("rollback to savepoint delivery");
    throw cause;
  }
}

async function give({ target, deliverIn }: Inward, tx: Tx, rows: readonly OutboxRow[]): Promise<Published[]> {
  const batch = rows.map(({ eventId, key, type, payload }) => ({ target, eventId, key, type, payload }));
  const receipts: readonly Receipt[] = await underSavepoint(tx, () => deliverIn(tx, batch));
  return rows.map(({ id, fence }, index) => ({
    id,
    fence,
    duplicate: receipts[index]?.status === "duplicate",
    reference: receipts[index]?.reference,
  }));
}

/** One key's rows one by one, up to the first that is refused; the rest waits behind it. */
async function giveOneByOne(inward: Inward, tx: Tx, run: readonly OutboxRow[]): Promise<Came> {
  const published: Published[] = [];
  for (const [index, row] of run.entries()) {
    try {
      published.push(...(await give(inward, tx, [row])));
    } catch (cause) {
      if (isTransient(cause)) throw cause;
      return {
        published,
        returned: [returnOf(row, cause, inward.policy), ...run.slice(index + 1).map(untried)],
      };
    }
  }
  return { published, returned: [] };
}

async function giveAll(inward: Inward, tx: Tx, rows: readonly OutboxRow[]): Promise<Came> {
  try {
    return { published: await give(inward, tx, rows), returned: [] };
  } catch (cause) {
    if (isTransient(cause)) throw cause;
    if (isUnavailable(cause)) {
      const [first, ...rest] = rows;
      return { published: [], returned: [returnOf(first!, cause, inward.policy), ...rest.map(untried)] };
    }
  }
  const parts: Came[] = [];
  for (const run of runsOf(rows)) parts.push(await giveOneByOne(inward, tx, run));
  return {
    published: parts.flatMap((part) => part.published),
    returned: parts.flatMap((part) => part.returned),
  };
}

/** Delivers the target's next rows; answers how many it claimed, and how many of them went. */
export async function deliverIn(inward: Inward): Promise<{ claimed: number; published: number }> {
  const { database, target, owner, rowsMax } = inward;
  const done = await database.transaction(async (tx) => {
    if (!(await lockTarget(tx, target))) return undefined;
    const rows = await claimRows(tx, target, { owner, rowsMax, leaseMs: 60_000 });
    if (rows.length === 0) return undefined;
    const came = await giveAll(inward, tx, rows);
    const published = came.published.length > 0 ? await publishRows(tx, came.published) : [];
    if (came.returned.length > 0) await returnRows(tx, came.returned);
    return { claimed: rows.length, published, returned: came.returned };
  });
  if (!done) return { claimed: 0, published: 0 };
  announcePublished(target, done.published);
  for (const row of done.returned) announceReturn(target, row);
  return { claimed: done.claimed, published: done.published.length };
}
