// Ending an attempt. Every statement here re-checks each item's fence and answers exactly the messages that it moved:
// a late owner moves nothing and is told so. Many attempts share one commit.
import type { Row, Sql, Statement, Tx } from "../../pg/contract.ts";
import { statement } from "../../pg/database.ts";
import type { Claim } from "../contract.ts";
import type { CommandKey } from "./command.ts";

type Runner = Pick<Sql | Tx, "run">;

export interface Done extends Claim {
  /** Whether it lies in a bundle. */
  readonly bundled: boolean;
  readonly command?: CommandKey | undefined;
}

/** Why an attempt did not end well. The fingerprint groups failures of one cause. */
export interface Failure {
  readonly outcome: string;
  readonly code: string;
  readonly message: string;
  readonly fingerprint: string;
  readonly schemaVersion: string | null;
}

export interface Retry extends Claim {
  readonly delayMs: number;
  /** Absent where the attempt never began, so that its receive does not count. */
  readonly failure?: Failure | undefined;
}

export interface Ended extends Claim {
  readonly failure: Failure;
}

export interface Moved extends Row {
  readonly id: string;
  readonly queueId: number;
  readonly groupId: string | null;
}

const claims = (items: readonly Claim[]): unknown[] => [
  items.map((item) => item.queueId),
  items.map((item) => item.id),
  items.map((item) => item.fence),
];

const failures = (items: readonly { failure?: Failure | undefined }[]): unknown[] => [
  items.map((item) => item.failure?.outcome ?? null),
  items.map((item) => item.failure?.code ?? null),
  items.map((item) => item.failure?.message ?? null),
  items.map((item) => item.failure?.fingerprint ?? null),
  items.map((item) => item.failure?.schemaVersion ?? null),
];

/** The columns with which a message goes from one table to another. */
const place = (from: string): string =>
  ["id", "queue_id", "group_id", "turn", "receives", "sent_at", "first_received_at", "source_queue_id"]
    .map((column) => `${from}.${column}`)
    .join(", ");

/** The same for one that is taken out of a bundle as `o`, with its body as `m`. */
const takenOut = `o.id, o.queue_id, null::text, 0::bigint, 1, m.sent_at, o.claimed_at, null::integer`;
const bodyOf = (taken: string): string =>
  `cross join lateral (select * from tuntas.message m where m.id = ${taken}.id offset 0) m`;

const held = `f.queue_id = u.queue_id and f.id = u.id and f.fence = u.fence`;
const moved = `select id::text, queue_id as "queueId", group_id as "groupId" from gone`;

// Messages lie in flight by themselves or in a bundle. Those that are done come sorted by that, since most of them are
// bundled; take_out answers with places in its arrays, because the planner would join arrays by trying all pairs.
const doneWith = (commands: string) =>
  statement(
    `with loose as (
       delete from tuntas.in_flight f using unnest($1::int[], $2::bigint[], $3::bigint[]) as u(queue_id, id, fence)
       where ${held} returning f.id, f.queue_id, f.group_id, f.receives
     ), gone as materialized (
       select id, queue_id, group_id, receives from loose
       union all select id, queue_id, null, 1 from tuntas.take_out($4::bigint[], $5::bigint[])
     ), bodies as (delete from tuntas.message where id = any(array(select id from gone))),
     failed as (delete from tuntas.failure where id = any(array(select id from gone where receives > 1)))
     ${commands}`,
  );

// Usually all have moved, and then their ids are not sent back.
const answered = `select (select count(*)::int from gone) as count,
  case when (select count(*) from gone) < cardinality($2::bigint[]) + cardinality($5::bigint[])
    then (select json_agg(id::text) from gone) end as ids`;

const recorded = `, commands as (
     insert into tuntas.command (scope, key, request_hash, created_at, expires_at)
     select scope, key, request_hash, tuntas.now(), tuntas.now() + make_interval(secs => retention)
     from unnest($6::bigint[], $7::text[], $8::text[], $9::text[], $10::int[]) as u(id, scope, key, request_hash, retention)
     where (select count(*) from gone) = cardinality($2::bigint[]) + cardinality($5::bigint[])
       or id = any(array(select id from gone))
     order by scope, key
     on conflict (scope, key) do nothing
   )`;

const allOrRaise = `select 1 / (select count(*) = cardinality($2::bigint[]) + cardinality($5::bigint[]) from gone)::int as ended`;

const done = doneWith(answered);
const doneOrRaise = doneWith(allOrRaise);
const doneWithCommands = doneWith(`${recorded} ${answered}`);
const doneInGroups = doneWith(moved);
const doneInGroupsWithCommands = doneWith(`${recorded} ${moved}`);

function doneValues(items: readonly Done[]): unknown[] {
  const loose = items.filter((item) => !item.bundled);
  const bundled = loose.length === 0 ? items : items.filter((item) => item.bundled);
  const keyed = items.filter((item) => item.command);
  return [
    ...claims(loose),
    bundled.map((item) => item.fence),
    bundled.map((item) => item.id),
    ...(keyed.length > 0 ? commandColumns(keyed) : []),
  ];
}

const commandColumns = (keyed: readonly Done[]): unknown[] => [
  keyed.map((item) => item.id),
  keyed.map((item) => item.command!.scope),
  keyed.map((item) => item.command!.key),
  keyed.map((item) => item.command!.requestHash),
  keyed.map((item) => item.command!.retentionSeconds),
];

const hasCommands = (items: readonly Done[]): boolean => items.some((item) => item.command);

async function removeDone(sql: Runner, items: readonly Done[]): Promise<readonly Done[]> {
  const [row] = await sql.run<{ count: number; ids: string[] | null }>(
    hasCommands(items) ? doneWithCommands : done,
    doneValues(items),
  );
  if (row!.count === items.length) return items;
  const ids = new Set(row!.ids);
  return items.filter((item) => ids.has(item.id));
}

/** Removes messages whose attempts are done, with their command records; answers those that moved. */
export async function settleDone(sql: Runner, items: readonly Done[]): Promise<readonly Done[]> {
  const ended = await removeDone(sql, items);
  if (ended.length === items.length) return ended;
  // One may have been taken out of its bundle for a transaction of its own, which then did not end it.
  const known = new Set(ended);
  const loosened = items.filter((item) => item.bundled && !known.has(item));
  if (loosened.length === 0) return ended;
  return [
    ...ended,
    ...(await removeDone(
      sql,
      loosened.map((item) => ({ ...item, bundled: false })),
    )),
  ];
}

/** The same in a transaction that goes on with the groups of what moved. */
export const settleDoneInGroups = (sql: Runner, items: readonly Done[]): Promise<Moved[]> =>
  sql.run<Moved>(hasCommands(items) ? doneInGroupsWithCommands : doneInGroups, doneValues(items));

// A receive counts when it is made; an attempt that never began gives it back.
const retry = statement(
  `with loose as (
     delete from tuntas.in_flight f
     using unnest($1::int[], $2::bigint[], $3::bigint[], $4::float8[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[])
       as u(queue_id, id, fence, delay_ms, outcome, code, message, fingerprint, schema_version)
     where ${held}
     returning ${place("f")}, u.delay_ms, u.outcome, u.code, u.message, u.fingerprint, u.schema_version
   ), gone as materialized (
     select * from loose union all
     select ${takenOut}, ($4::float8[])[o.n], ($5::text[])[o.n], ($6::text[])[o.n], ($7::text[])[o.n], ($8::text[])[o.n], ($9::text[])[o.n]
     from tuntas.take_out($3::bigint[], $2::bigint[]) o ${bodyOf("o")}
   ), back as (
     select id, queue_id, delay_ms, turn, sent_at, group_id, source_queue_id,
       case when outcome is null then receives - 1 else receives end as receives,
       case when outcome is null and receives = 1 then null else first_received_at end as first_received_at
     from gone
   ), later as (
     insert into tuntas.delayed (id, queue_id, due, turn, receives, sent_at, first_received_at, group_id, source_queue_id)
     select id, queue_id, tuntas.now() + make_interval(secs => delay_ms / 1000), turn, receives, sent_at, first_received_at, group_id, source_queue_id
     from back where delay_ms > 0
   ), at_once as (
     insert into tuntas.ready (queue_id, turn, id, receives, sent_at, first_received_at, group_id, source_queue_id)
     select queue_id, turn, id, receives, sent_at, first_received_at, group_id, source_queue_id from back where delay_ms <= 0
   ), failed as (
     insert into tuntas.failure as x (id, outcome, code, message, fingerprint, schema_version, attempts, first_failed_at, failed_at)
     select id, outcome, code, message, fingerprint, schema_version, 1, tuntas.now(), tuntas.now()
     from gone where outcome is not null order by id
     on conflict (id) do update set outcome = excluded.outcome, code = excluded.code, message = excluded.message,
       fingerprint = excluded.fingerprint, schema_version = excluded.schema_version, attempts = x.attempts + 1,
       failed_at = excluded.failed_at
   )
   ${moved}`,
);

/** The text of the statement, for the heartbeat thread, which runs it where the event loop cannot. */
export const releaseText = retry.text;

/** Gives messages back: at once, or after a delay. */
export const settleRetry = (sql: Runner, items: readonly Retry[]): Promise<Moved[]> =>
  sql.run<Moved>(retry, [...claims(items), items.map((item) => item.delayMs), ...failures(items)]);

const endedWith = (record: string) =>
  statement(
    `with loose as (
       delete from tuntas.in_flight f
       using unnest($1::int[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
         as u(queue_id, id, fence, outcome, code, reason, fingerprint, schema_version)
       where ${held}
       returning ${place("f")}, u.outcome, u.code, u.reason, u.fingerprint, u.schema_version
     ), gone as materialized (
       select * from loose union all
       select ${takenOut}, ($4::text[])[o.n], ($5::text[])[o.n], ($6::text[])[o.n], ($7::text[])[o.n], ($8::text[])[o.n]
       from tuntas.take_out($3::bigint[], $2::bigint[]) o ${bodyOf("o")}
     ), body as (
       delete from tuntas.message where id = any(array(select id from gone)) returning *
     ), failed as (delete from tuntas.failure where id = any(array(select id from gone))),
     kept as (${record})
     ${moved}`,
  );

const quarantine = endedWith(
  `insert into tuntas.quarantine (id, queue_id, message_id, outcome, code, message, fingerprint, schema_version, body, attributes,
     trace_header, deduplication_id, group_id, sender, receives, sent_at, quarantined_at)
   select g.id, g.queue_id, b.message_id, g.outcome, g.code, g.reason, g.fingerprint, g.schema_version, b.body, b.attributes,
     b.trace_header, b.deduplication_id, g.group_id, b.sender, g.receives, g.sent_at, tuntas.now()
   from gone g join body b on b.id = g.id`,
);

/** Puts messages aside for a person, whole. */
export const settleQuarantine = (sql: Runner, items: readonly Ended[]): Promise<Moved[]> =>
  sql.run<Moved>(quarantine, [...claims(items), ...failures(items)]);

const reject = endedWith(
  `insert into tuntas.rejection (id, queue_id, message_id, code, reason, receives, sent_at, rejected_at)
   select g.id, g.queue_id, b.message_id, g.code, g.reason, g.receives, g.sent_at, tuntas.now()
   from gone g join body b on b.id = g.id`,
);

/** Ends messages by a business no, with its reason. */
export const settleReject = (sql: Runner, items: readonly Ended[]): Promise<Moved[]> =>
  sql.run<Moved>(reject, [...claims(items), ...failures(items)]);

const refresh = statement(`select tuntas.refresh_groups($1, $2::text[])`);

/**
 * Ends messages at the close of a transaction that does their work: all, or it raises division_by_zero. Taken out of
 * bundles only here, since that holds up whoever ends others of the same bundle until the commit.
 */
export const acknowledgeAll = (items: readonly Done[]): { statement: Statement; values: unknown[] } => ({
  statement: doneOrRaise,
  values: doneValues(items).slice(0, 5),
});

/** Frees FIFO groups after `releaseText`, for the heartbeat thread. */
export const refreshText = refresh.text;

/** Runs `settle` in a transaction that also frees the FIFO groups of what moved. */
export function settleFifo<Row extends { queueId: number; groupId: string | null }>(
  sql: Sql,
  settle: (tx: Tx) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  return sql.transaction(async (tx) => {
    const rows = await settle(tx);
    await refreshGroups(tx, rows);
    return rows;
  });
}

/** Works out anew what may be claimed of the groups of moved messages; part of the transaction that moved them. */
export async function refreshGroups(tx: Runner, rows: readonly InGroup[]): Promise<void> {
  for (const { statement, values } of groupRefreshes(rows)) await tx.run(statement, values);
}

interface InGroup {
  readonly queueId: number;
  readonly groupId: string | null;
}

/** The statements that do so, in the one order in which groups are locked. */
export function groupRefreshes(rows: readonly InGroup[]): { statement: Statement; values: unknown[] }[] {
  const groups = new Map<number, Set<string>>();
  for (const { queueId, groupId } of rows) {
    if (groupId === null) continue;
    const known = groups.get(queueId) ?? new Set();
    groups.set(queueId, known.add(groupId));
  }
  return [...groups.keys()]
    .toSorted((a, b) => a - b)
    .map((queueId) => ({ statement: refresh, values: [queueId, [...groups.get(queueId)!].toSorted()] }));
}

const isFifo = statement(`select id as "queueId" from tuntas.queue where fifo and id = any($1::int[])`);

/** Which of the queues are FIFO. */
export const fifoAmong = async (sql: Runner, queueIds: readonly number[]): Promise<Set<number>> =>
  new Set((await sql.run<{ queueId: number }>(isFifo, [queueIds])).map((row) => row.queueId));

const perhapsUnseen = `(f.handed_over is true and f.claimed_at > coalesce(
  (select p.heartbeat_at from tuntas.process p where p.id = f.owner_id), '-infinity'))`;

// What dead owners held is ready again. Skip what somebody settles at this moment: it is not theirs any more. What was handed
// over after an owner's last heartbeat it may never have seen, so that receive does not count; a message is handed over once.
const release = statement(
  `with loose as (
     delete from tuntas.in_flight f where ctid = any(array(
       select f.ctid from tuntas.in_flight f where f.owner_id = any($1::bigint[]) limit $2 for update skip locked))
     returning f.id, f.queue_id, f.group_id, f.turn, f.receives - ${perhapsUnseen}::int as receives, f.sent_at,
       case when not ${perhapsUnseen} then f.first_received_at end as first_received_at, f.source_queue_id
   ), bundles as (
     delete from tuntas.bundle where ctid = any(array(
       select b.ctid from tuntas.bundle b where b.owner_id = any($1::bigint[]) limit 10 for update skip locked))
     returning *
   ), gone as materialized (
     select * from loose union all
     select ${takenOut} from (select b.*, u.id from bundles b cross join lateral unnest(b.ids) as u(id)) o ${bodyOf("o")}
   ), back as (
     insert into tuntas.ready (queue_id, turn, id, receives, sent_at, first_received_at, group_id, source_queue_id)
     select queue_id, turn, id, receives, sent_at, first_received_at, group_id, source_queue_id from gone
   )
   ${moved}`,
);

/** Makes ready what these dead processes held, up to `count` messages and ten bundles. */
export const releaseOwners = (sql: Runner, ownerIds: readonly string[], count: number): Promise<Moved[]> =>
  sql.run<Moved>(release, [ownerIds, count]);

const loosen = statement(
  `insert into tuntas.in_flight (id, queue_id, group_id, turn, receives, sent_at, first_received_at, source_queue_id,
     fence, owner_id, claimed_at)
   select ${takenOut}, o.fence, o.owner_id, o.claimed_at
   from tuntas.take_out($1::bigint[], $2::bigint[]) o ${bodyOf("o")}`,
);

/** Takes claims out of their bundles, so that each can be ended in a transaction of its own without holding up the others. */
export const loosenClaims = (sql: Runner, items: readonly Claim[]) =>
  sql.run<Row>(loosen, [items.map((item) => item.fence), items.map((item) => item.id)]);

const endInTransaction = statement(`select tuntas.end_message($1, $2, $3)`);

/**
 * The acknowledgement as the last statement of a handler's own transaction. It raises division_by_zero where the fence
 * is lost, so that a commit that is already on its way behind it does nothing.
 */
export const acknowledgement = ({
  queueId,
  id,
  fence,
}: Claim): { statement: Statement; values: unknown[] } => ({
  statement: endInTransaction,
  values: [queueId, id, fence],
});
