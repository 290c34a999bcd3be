// The asking side: announce something with the change that it tells of, see what waits, put parked rows back.
import { randomUUID } from "node:crypto";
import { isStorable } from "../core/text.ts";
import type { Write } from "../engine/handler/contract.ts";
import { ownedColumns } from "./endpoints.ts";
import { keepsBack } from "../engine/handler/replay.ts";
import type { Announcement, TargetName } from "../engine/target.ts";
import { statement, type Database } from "../pg/database.ts";
import { ms } from "../pg/instant.ts";
import type { Runner, Transaction } from "../pg/join.ts";
import { join } from "../pg/join.ts";
import type { Added, NewAnnouncement, OutboxStatus, ParkedRow, TargetStatus } from "./contract.ts";
import { outboxErrors } from "./contract.ts";
import { insertion, insertRows, notifyRelays } from "./store.ts";

export { forgetPublished } from "./store.ts";

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const invalid = (expected: string) =>
  outboxErrors.error("TUNTAS_OUTBOX_INVALID", `outbox.add: expected ${expected}`);

function checkTexts({ target, key, type, payload }: NewAnnouncement): void {
  if (!target?.kind || !target.name) throw invalid("a target with kind and name");
  if (key === "") throw invalid("a key with at least one character, or none at all");
  for (const [name, value] of Object.entries({ kind: target.kind, name: target.name, key, type, payload })) {
    if (value === undefined && (name === "key" || name === "type")) continue;
    if (typeof value !== "string" || !isStorable(value))
      throw invalid(`${name} as text without NUL or lone surrogates`);
  }
}

function toAnnouncement(given: NewAnnouncement): Announcement {
  checkTexts(given);
  const { target, key = null, type = null, payload, eventId = randomUUID() } = given;
  if (!uuid.test(eventId)) throw invalid(`eventId as a uuid, got ${JSON.stringify(eventId)}`);
  return { target, key, type, payload, eventId };
}

export interface AddOptions {
  /** False spares the wake-up of the relays in the commit; they then find it by themselves, within two seconds. */
  readonly wake?: boolean;
}

/** Announces all of them in the caller's transaction, in this order. Errors: TUNTAS_OUTBOX_INVALID. */
export async function addAll(
  tx: Transaction,
  given: readonly NewAnnouncement[],
  { wake = true }: AddOptions = {},
): Promise<Added[]> {
  if (given.length === 0) return [];
  const rows = given.map(toAnnouncement);
  const ids = keepsBack(rows.length) ? [] : await insertRows(join(tx), rows, wake);
  return rows.map(({ eventId }, index) => ({ id: ids[index] ?? "", eventId }));
}

/** The statement that announces it, for whoever hands statements over. Errors: TUNTAS_OUTBOX_INVALID. */
export const announcing = (database: Pick<Database, "bind">, given: NewAnnouncement): Write =>
  insertion(database, toAnnouncement(given));

/** Announces it in the caller's transaction: published after the commit, and never without it. Errors: TUNTAS_OUTBOX_INVALID. */
export async function add(tx: Transaction, given: NewAnnouncement, options?: AddOptions): Promise<Added> {
  return (await addAll(tx, [given], options))[0]!;
}

const status = statement(
  `select target_kind as kind, target_name as name, ${ownedColumns("o")},
     count(*) filter (where parked_at is null)::int as waiting, count(*) filter (where parked_at is not null)::int as parked,
     ${ms("tuntas.now() - min(created_at) filter (where parked_at is null)")} as "oldestAgeMs"
   from tuntas.outbox o group by 1, 2 order by 1, 2`,
);

const oldestRow = statement(
  `select id::text from tuntas.outbox where target_kind = $1 and target_name = $2 and parked_at is null order by created_at limit 1`,
);

/** The id of the row that has waited longest for this target. */
export const findOldestRow = async (
  sql: Transaction,
  { kind, name }: TargetName,
): Promise<string | undefined> => (await join(sql).run<{ id: string }>(oldestRow, [kind, name]))[0]?.id;

// Their rows cannot be seen, but the lock that an insert takes on the table can.
const writers = statement(
  `select ${ms("max(pg_catalog.now() - a.xact_start)")} as "ageMs"
   from pg_locks l join pg_stat_activity a on a.pid = l.pid
   where l.relation = 'tuntas.outbox'::regclass and l.mode = 'RowExclusiveLock' and l.pid <> pg_backend_pid()`,
);

/** What waits and what is parked, by target, and whether a transaction that was left open holds rows back. */
export async function readStatus(sql: Transaction): Promise<OutboxStatus> {
  const runner = join(sql);
  const rows = await runner.run<TargetName & Omit<TargetStatus, "target"> & {}>(status);
  const [open] = await runner.run<{ ageMs: number | null }>(writers);
  return {
    targets: rows.map(({ kind, name, ...rest }) => ({ target: { kind, name }, ...rest })),
    openWriterAgeMs: open!.ageMs,
  };
}

const parked = statement(
  `select id::text, event_id::text as "eventId", target_kind as kind, target_name as name, key, type, payload, refusals,
     failure_code as "failureCode", failure_message as "failureMessage", ${ms("parked_at")} as "parkedAtMs", ${ownedColumns("o")}
   from tuntas.outbox o where parked_at is not null and ($1::text is null or (target_kind = $1 and target_name = $2)) order by o.id limit $3`,
);

/** Parked rows, oldest first. */
export async function listParked(
  sql: Transaction,
  { target, rowsMax = 100 }: { target?: TargetName; rowsMax?: number } = {},
): Promise<ParkedRow[]> {
  const rows = await join(sql).run<TargetName & Omit<ParkedRow, "target"> & {}>(parked, [
    target?.kind ?? null,
    target?.name ?? null,
    rowsMax,
  ]);
  return rows.map(({ kind, name, ...rest }) => ({ target: { kind, name }, ...rest }));
}

const unpark = statement(
  `update tuntas.outbox set parked_at = null, refusals = 0, due_at = tuntas.now(), failure_code = null, failure_message = null
   where parked_at is not null and ($1::text is null or (target_kind = $1 and target_name = $2)) and ($3::bigint[] is null or id = any($3))
   returning id`,
);

export interface PutBackFilter {
  readonly target?: TargetName;
  readonly ids?: readonly string[];
}

/** Puts parked rows back, all of them or those that match; answers how many. They have all their tries again. */
export async function putBack(sql: Transaction, { target, ids }: PutBackFilter = {}): Promise<number> {
  const runner: Runner = join(sql);
  const rows = await runner.run(unpark, [target?.kind ?? null, target?.name ?? null, ids ?? null]);
  if (rows.length > 0) await notifyRelays(runner);
  return rows.length;
}

export interface Delivery {
  readonly eventId: string;
  readonly target: string;
  readonly state: "delivered" | "waiting" | "parked";
  readonly failure: string | null;
}

const deliveriesText = statement(
  `select event_id::text as "eventId", target_kind || ':' || target_name as target,
     case when parked_at is not null then 'parked' else 'waiting' end as state, failure_message as failure
   from tuntas.outbox where event_id = any($1::uuid[])
   union all select event_id::text, target_kind || ':' || target_name, 'delivered', null
   from tuntas.outbox_published where event_id = any($1::uuid[])`,
);

/** What became of announcements. */
export const readDeliveries = (sql: Transaction, eventIds: readonly string[]) =>
  join(sql).run<Delivery & {}>(deliveriesText, [eventIds]);
