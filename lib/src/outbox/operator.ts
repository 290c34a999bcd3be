// What a person sees of the outbox and does to it: rows and why they wait; parked ones tried again or given up. Every
// act says who and why, and leaves a row of the record in its own transaction.
import { writeAudit } from "../engine/audit.ts";
import type { TargetName } from "../engine/target.ts";
import type { Sql } from "../pg/contract.ts";
import type { Runner } from "../pg/join.ts";
import { putBack, type PutBackFilter } from "./client.ts";
import { outboxErrors, type OutboxItem } from "./contract.ts";
import { deleteParked, findItem, listItems } from "./store.ts";

export interface Act {
  readonly by: string;
  readonly reason: string;
}

export interface ItemFilter {
  readonly target?: TargetName | undefined;
  readonly state?: OutboxItem["state"] | undefined;
  /** 100 by default. */
  readonly rowsMax?: number | undefined;
}

/** Rows that wait or are parked, oldest first. */
export const outboxItems = (sql: Runner, { target, state, rowsMax = 100 }: ItemFilter = {}) =>
  listItems(sql, { target, state, rowsMax });

const missing = (id: string, expected: string, came: string) =>
  outboxErrors.error("TUNTAS_OUTBOX_ROW", `outbox row ${id}: expected ${expected}, got ${came}`);

/** One row with its payload. Errors: TUNTAS_OUTBOX_ROW where it is not there: never written, published, or discarded. */
export async function outboxItem(sql: Runner, id: string): Promise<OutboxItem> {
  const item = await findItem(sql, id);
  if (item) return item;
  throw missing(id, "one that waits or is parked", "none of that id");
}

/** Tries parked rows again, with all their tries; answers how many. */
export const retryParked = (sql: Sql, filter: PutBackFilter, { by, reason }: Act): Promise<number> =>
  sql.transaction(async (tx) => {
    const count = await putBack(tx, filter);
    const subject = filter.target ? `outbox ${filter.target.kind}:${filter.target.name}` : "outbox";
    const details = { count, ...(filter.ids && { ids: filter.ids }) };
    if (count > 0) await writeAudit(tx, { actor: by, action: "outbox.retry", subject, reason, details });
    return count;
  });

/** Gives a parked row up: it is never published. What it was, without its payload, stays on the record. Errors: TUNTAS_OUTBOX_ROW. */
export const discardParked = (sql: Sql, id: string, { by, reason }: Act): Promise<OutboxItem> =>
  sql.transaction(async (tx) => {
    const gone = await deleteParked(tx, id);
    if (!gone) throw missing(id, "a parked one", (await findItem(tx, id))?.state ?? "none of that id");
    const { target, payload, owner: _, runbook: __, ...rest } = gone;
    const details = { ...rest, payloadBytes: Buffer.byteLength(payload) };
    const subject = `outbox ${target.kind}:${target.name}`;
    await writeAudit(tx, { actor: by, action: "outbox.discard", subject, reason, details });
    return gone;
  });
