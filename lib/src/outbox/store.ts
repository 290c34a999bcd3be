// The outbox's statements. A relay claims a target's rows under that target's advisory lock, taken in a statement of its
// own: the claim then sees every earlier claim, which is what keeps a key's rows in order between relays.
import { inBatches } from "../engine/chore.ts";
import type { Write } from "../engine/handler/contract.ts";
import type { Announcement, TargetName } from "../engine/target.ts";
import { statement, type Database } from "../pg/database.ts";
import { ms } from "../pg/instant.ts";
import type { Runner } from "../pg/join.ts";
import type { OutboxItem } from "./contract.ts";
import { ownedColumns } from "./endpoints.ts";

// A notification goes out with the commit. The channel's name is the table's, so it follows the schema.
const notified = `case when $7::boolean then pg_notify('tuntas.outbox', '') end`;

const insertOne = statement(
  `with added as (
     insert into tuntas.outbox (event_id, target_kind, target_name, key, type, payload, created_at, due_at)
     values ($1, $2, $3, $4, $5, $6, tuntas.now(), tuntas.now()) returning id
   ) select id::text, ${notified} from added`,
);

const insertMany = statement(
  `with added as (
     insert into tuntas.outbox (event_id, target_kind, target_name, key, type, payload, created_at, due_at)
     select e, k, n, key, type, p, tuntas.now(), tuntas.now()
     from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[]) with ordinality as u(e, k, n, key, type, p, ord)
     order by ord returning id
   ), told as materialized (select ${notified})
   select id::text from added, told order by added.id`,
);

const fieldsOf = (row: Announcement): unknown[] => [
  row.eventId,
  row.target.kind,
  row.target.name,
  row.key,
  row.type,
  row.payload,
];

/** What stores one announcement, and wakes the relays at the commit. */
export function insertion(database: Pick<Database, "bind">, row: Announcement): Write {
  const { text } = database.bind(insertOne);
  return { text, values: [...fieldsOf(row), true] };
}

/** Stores announcements in their order, and wakes the relays at the commit if asked to; answers the rows' ids. */
export async function insertRows(
  tx: Runner,
  rows: readonly Announcement[],
  wake: boolean,
): Promise<string[]> {
  const [first, ...others] = rows;
  const columns =
    others.length === 0
      ? fieldsOf(first!)
      : fieldsOf(first!).map((_, index) => rows.map((row) => fieldsOf(row)[index]));
  const stored = await tx.run<{ id: string }>(others.length === 0 ? insertOne : insertMany, [
    ...columns,
    wake,
  ]);
  return stored.map((row) => row.id);
}

const notify = statement(`select pg_notify('tuntas.outbox', '')`);

/** Wakes the relays at the commit. */
export const notifyRelays = (tx: Runner) => tx.run(notify);

// One look-up in the index a target, however many rows wait.
const targets = statement(
  `with recursive t as (
     (select target_kind, target_name from tuntas.outbox where parked_at is null order by target_kind, target_name limit 1)
     union all
     select n.* from t cross join lateral (
       select o.target_kind, o.target_name from tuntas.outbox o
       where o.parked_at is null and (o.target_kind, o.target_name) > (t.target_kind, t.target_name)
       order by o.target_kind, o.target_name limit 1) n
   )
   select t.target_kind as kind, t.target_name as name,
     ${ms(`tuntas.now() - (select o.created_at from tuntas.outbox o where o.target_kind = t.target_kind
       and o.target_name = t.target_name and o.parked_at is null order by o.id limit 1)`)} as "oldestAgeMs"
   from t`,
);

export interface WaitingTarget extends TargetName {
  readonly oldestAgeMs: number;
}

/** The targets for which rows wait. */
export const waitingTargets = (sql: Runner): Promise<WaitingTarget[]> => sql.run<WaitingTarget & {}>(targets);

const lock = statement(
  `select pg_try_advisory_xact_lock(hashtextextended('outbox ' || 'tuntas.outbox'::regclass::oid || ' ' || $1::text || chr(31) || $2::text, 0)) as got`,
);

/** Whether this transaction is now the only one that claims rows of the target. */
export async function lockTarget(tx: Runner, { kind, name }: TargetName): Promise<boolean> {
  return (await tx.run<{ got: boolean }>(lock, [kind, name]))[0]!.got;
}

export interface OutboxRow extends Omit<Announcement, "target"> {
  readonly id: string;
  readonly fence: string;
  readonly refusals: number;
}

// A key is kept back by a row of it that is on its way with a live owner, or that waits for another try. Measured with
// 100,000 rows behind one refused row: the claim of the others takes 30 ms.
const free = `(o.claimed_until is null or o.claimed_until <= tuntas.now()
  or not exists (select from tuntas.process p where p.id = o.claimed_by and p.expires_at > tuntas.now()))`;

// A relay has one batch of a target on its way, and claims the next when all of it is written: what it is said to have
// itself is what a claim took whose answer was lost, or what could not be written.
const freeToIt = `(o.claimed_by = $4::bigint or ${free})`;

const claim = statement(
  `with kept as materialized (
     select distinct o.key from tuntas.outbox o
     where o.target_kind = $1 and o.target_name = $2 and o.parked_at is null and (o.claimed_until is not null or o.failure_code is not null)
       and o.key is not null and (not ${freeToIt} or o.due_at > tuntas.now())
   ), picked as materialized (
     select o.id from tuntas.outbox o
     where o.target_kind = $1 and o.target_name = $2 and o.parked_at is null and o.due_at <= tuntas.now() and ${freeToIt}
       and (o.key is null or o.key <> all(array(select key from kept)))
     order by o.id limit $3
   ), taken as (
     update tuntas.outbox o set claimed_by = $4::bigint, claimed_until = tuntas.now() + make_interval(secs => $5::float8), fence = nextval('tuntas.fence')
     where o.id = any(array(select id from picked))
     returning o.id, o.fence::text, o.event_id::text as "eventId", o.key, o.type, o.payload, o.refusals
   )
   select id::text, fence, "eventId", key, type, payload, refusals from taken order by taken.id`,
);

export interface ClaimOptions {
  readonly owner: string;
  readonly rowsMax: number;
  readonly leaseMs: number;
}

/** Claims the target's next rows, in order; the target must be locked, and what the owner claimed before be written. */
export function claimRows(
  tx: Runner,
  { kind, name }: TargetName,
  { owner, rowsMax, leaseMs }: ClaimOptions,
): Promise<OutboxRow[]> {
  return tx.run<OutboxRow & {}>(claim, [kind, name, rowsMax, owner, leaseMs / 1000]);
}

export interface Published {
  readonly id: string;
  readonly fence: string;
  readonly duplicate: boolean;
  readonly reference: string | undefined;
}

const publish = statement(
  `with gone as (
     delete from tuntas.outbox o using unnest($1::bigint[], $2::bigint[], $3::boolean[], $4::text[]) as u(id, fence, duplicate, reference)
     where o.id = u.id and o.fence = u.fence
     returning o.id, o.event_id, o.target_kind, o.target_name, o.key, o.type, o.created_at, u.duplicate, u.reference
   ), kept as (
     insert into tuntas.outbox_published (id, event_id, target_kind, target_name, key, type, created_at, published_at, duplicate, reference)
     select id, event_id, target_kind, target_name, key, type, created_at, tuntas.now(), duplicate, reference from gone
   )
   select id::text, ${ms("tuntas.now() - created_at")} as "ageMs" from gone`,
);

/** Ends rows as published; answers those that were still this relay's. */
export function publishRows(
  sql: Runner,
  rows: readonly Published[],
): Promise<{ id: string; ageMs: number }[]> {
  return sql.run<{ id: string; ageMs: number }>(publish, [
    rows.map((row) => row.id),
    rows.map((row) => row.fence),
    rows.map((row) => row.duplicate),
    rows.map((row) => row.reference ?? null),
  ]);
}

export interface Returned {
  readonly id: string;
  readonly fence: string;
  /** Counts as the row's own refusal. */
  readonly refused: boolean;
  readonly park: boolean;
  readonly delayMs: number;
  /** Why it comes back; undefined where it was not even tried. */
  readonly failure?: { readonly code: string; readonly message: string } | undefined;
}

const giveBack = statement(
  `update tuntas.outbox o set claimed_by = null, claimed_until = null, fence = null,
     refusals = refusals + u.refused::int, due_at = tuntas.now() + make_interval(secs => u.delay),
     parked_at = case when u.park then tuntas.now() end,
     failure_code = coalesce(u.code, o.failure_code), failure_message = coalesce(u.message, o.failure_message)
   from unnest($1::bigint[], $2::bigint[], $3::boolean[], $4::boolean[], $5::float8[], $6::text[], $7::text[]) as u(id, fence, refused, park, delay, code, message)
   where o.id = u.id and o.fence = u.fence returning o.id::text`,
);

/** Gives rows back, to be tried again or parked; answers those that were still this relay's. */
export function returnRows(sql: Runner, rows: readonly Returned[]): Promise<{ id: string }[]> {
  return sql.run<{ id: string }>(giveBack, [
    rows.map((row) => row.id),
    rows.map((row) => row.fence),
    rows.map((row) => row.refused),
    rows.map((row) => row.park),
    rows.map((row) => row.delayMs / 1000),
    rows.map((row) => row.failure?.code ?? null),
    rows.map((row) => row.failure?.message ?? null),
  ]);
}

const forgottenMax = 10_000;
const forget = statement(
  `with gone as (delete from tuntas.outbox_published where ctid = any(array(
     select ctid from tuntas.outbox_published where published_at < tuntas.now() - make_interval(secs => $1::float8)
     order by published_at limit ${forgottenMax})) returning 1)
   select count(*)::int as count from gone`,
);

const retentionSeconds = 7 * 86_400;

/** Forgets what was published more than a week ago. */
export const forgetPublished = (sql: Runner) =>
  inBatches(
    forgottenMax,
    async () => (await sql.run<{ count: number }>(forget, [retentionSeconds]))[0]!.count,
  );

const itemColumns = `id::text, event_id::text as "eventId", target_kind as kind, target_name as name, key, type, payload,
  case when parked_at is not null then 'parked'
    when not ${free} then 'claimed'
    when exists (select from tuntas.outbox e where e.target_kind = o.target_kind and e.target_name = o.target_name and e.parked_at is null
      and e.key = o.key and e.id < o.id and e.failure_code is not null) then 'behind'
    else 'waiting' end as state,
  ${ms("tuntas.now() - created_at")} as "ageMs",
  case when parked_at is null then ${ms("due_at - tuntas.now()")} end as "dueInMs",
  refusals, failure_code as "failureCode", failure_message as "failureMessage", ${ownedColumns("o")}`;

type ItemRow = TargetName & Omit<OutboxItem, "target"> & {};

const toItem = ({ kind, name, ...rest }: ItemRow): OutboxItem => ({ target: { kind, name }, ...rest });

const items = statement(
  `select * from (
     select ${itemColumns} from tuntas.outbox o where ($1::text is null or (target_kind = $1 and target_name = $2)) order by o.id) i
   where $3::text is null or state = $3 limit $4`,
);

export interface ItemQuery {
  readonly target: TargetName | undefined;
  readonly state: OutboxItem["state"] | undefined;
  readonly rowsMax: number;
}

/** Rows as a person looks at them, oldest first. */
export const listItems = async (sql: Runner, { target, state, rowsMax }: ItemQuery): Promise<OutboxItem[]> =>
  (await sql.run<ItemRow>(items, [target?.kind ?? null, target?.name ?? null, state ?? null, rowsMax])).map(
    toItem,
  );

const item = statement(`select ${itemColumns} from tuntas.outbox o where o.id = $1`);

export const findItem = async (sql: Runner, id: string): Promise<OutboxItem | undefined> =>
  (await sql.run<ItemRow>(item, [id])).map(toItem)[0];

const discard = statement(
  `delete from tuntas.outbox o where o.id = $1 and o.parked_at is not null returning ${itemColumns}`,
);

/** Undefined where it is not parked. */
export const deleteParked = async (tx: Runner, id: string): Promise<OutboxItem | undefined> =>
  (await tx.run<ItemRow>(discard, [id])).map(toItem)[0];
