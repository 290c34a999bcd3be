// Ending an attempt. Every statement here re-checks each item's fence and answers exactly the messages that it moved:
// a late owner moves nothing and is told so. Many attempts share one commit.
import type { Row, Sql, Statement, Tx } from "../../pg/contract.ts";
import { statement } from "../../pg/database.ts";
import type { Claim } from "../contract.ts";

type Runner = Pick<Sql | Tx, "run">;

/** What a command record needs to know of a message that is done. */
export interface CommandKey {
  readonly scope: string;
  readonly key: string;
  readonly requestHash: string;
  readonly retentionSeconds: number;
}

export interface Done extends Claim {
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

interface Moved extends Row {
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

const held = `f.queue_id = u.queue_id and f.id = u.id and f.fence = u.fence`;
const moved = `select id::text, queue_id as "queueId", group_id as "groupId" from gone`;

const done = statement(
  `with gone as (
     delete from tuntas.in_flight f using unnest($1::int[], $2::bigint[], $3::bigint[]) as u(queue_id, id, fence)
     where ${held} returning f.id, f.queue_id, f.group_id, f.receives
   ), bodies as (delete from tuntas.message where id = any(array(select id from gone))),
   failed as (delete from tuntas.failure where id = any(array(select id from gone where receives > 1)))
   ${moved}`,
);

const doneWithCommands = statement(
  `with gone as (
     delete from tuntas.in_flight f
     using unnest($1::int[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::int[])
       as u(queue_id, id, fence, scope, key, request_hash, retention)
     where ${held} returning f.id, f.queue_id, f.group_id, f.receives, u.scope, u.key, u.request_hash, u.retention
   ), bodies as (delete from tuntas.message where id = any(array(select id from gone))),
   failed as (delete from tuntas.failure where id = any(array(select id from gone where receives > 1))),
   commands as (
     insert into tuntas.command (scope, key, request_hash, created_at, expires_at)
     select scope, key, request_hash, tuntas.now(), tuntas.now() + make_interval(secs => retention)
     from gone where key is not null order by scope, key
     on conflict (scope, key) do nothing
   )
   ${moved}`,
);

/** Removes messages whose attempts are done, with their command records. */
export function settleDone(sql: Runner, items: readonly Done[]): Promise<Moved[]> {
  if (!items.some((item) => item.command)) return sql.run<Moved>(done, claims(items));
  return sql.run<Moved>(doneWithCommands, [
    ...claims(items),
    items.map((item) => item.command?.scope ?? null),
    items.map((item) => item.command?.key ?? null),
    items.map((item) => item.command?.requestHash ?? null),
    items.map((item) => item.command?.retentionSeconds ?? null),
  ]);
}

// A receive counts when it is made; an attempt that never began gives it back.
const retry = statement(
  `with gone as (
     delete from tuntas.in_flight f
     using unnest($1::int[], $2::bigint[], $3::bigint[], $4::float8[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[])
       as u(queue_id, id, fence, delay_ms, outcome, code, message, fingerprint, schema_version)
     where ${held}
     returning f.id, f.queue_id, f.group_id, f.turn, f.receives, f.sent_at, f.first_received_at, f.source_queue_id,
       u.delay_ms, u.outcome, u.code, u.message, u.fingerprint, u.schema_version
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
    `with gone as (
       delete from tuntas.in_flight f
       using unnest($1::int[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
         as u(queue_id, id, fence, outcome, code, reason, fingerprint, schema_version)
       where ${held}
       returning f.id, f.queue_id, f.group_id, f.receives, f.sent_at, u.outcome, u.code, u.reason, u.fingerprint, u.schema_version
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

/** Frees FIFO groups after `releaseText`, for the heartbeat thread. */
export const refreshText = refresh.text;

/** Runs `settle` in a transaction that also frees the FIFO groups of what moved. */
export function settleFifo(sql: Sql, settle: (tx: Tx) => Promise<Moved[]>): Promise<Moved[]> {
  return sql.transaction(async (tx) => {
    const rows = await settle(tx);
    await refreshGroups(tx, rows);
    return rows;
  });
}

/** Works out anew what may be claimed of the groups of moved messages; part of the transaction that moved them. */
export async function refreshGroups(
  tx: Runner,
  rows: readonly { queueId: number; groupId: string | null }[],
): Promise<void> {
  const groups = new Map<number, Set<string>>();
  for (const { queueId, groupId } of rows) {
    if (groupId === null) continue;
    const known = groups.get(queueId) ?? new Set();
    groups.set(queueId, known.add(groupId));
  }
  for (const queueId of [...groups.keys()].toSorted((a, b) => a - b))
    await tx.run(refresh, [queueId, [...groups.get(queueId)!].toSorted()]);
}

const isFifo = statement(`select id as "queueId" from tuntas.queue where fifo and id = any($1::int[])`);

/** Which of the queues are FIFO. */
export const fifoAmong = async (sql: Runner, queueIds: readonly number[]): Promise<Set<number>> =>
  new Set((await sql.run<{ queueId: number }>(isFifo, [queueIds])).map((row) => row.queueId));

// A dead owner has no more rights: what it held is ready again. Skip what somebody settles at this moment.
const release = statement(
  `with gone as (
     delete from tuntas.in_flight where ctid = any(array(
       select f.ctid from tuntas.in_flight f where f.owner_id = any($1::bigint[]) limit $2 for update skip locked))
     returning *
   ), back as (
     insert into tuntas.ready (queue_id, turn, id, receives, sent_at, first_received_at, group_id, source_queue_id)
     select queue_id, turn, id, receives, sent_at, first_received_at, group_id, source_queue_id from gone
   )
   ${moved}`,
);

/** Makes ready what these dead processes held, up to `count` messages. */
export const releaseOwners = (sql: Runner, ownerIds: readonly string[], count: number): Promise<Moved[]> =>
  sql.run<Moved>(release, [ownerIds, count]);

const endInTransaction = statement(
  `with gone as (
     delete from tuntas.in_flight where queue_id = $1 and id = $2 and fence = $3 returning id, receives
   ), body as (delete from tuntas.message where id = (select id from gone)),
   failed as (delete from tuntas.failure where id = (select id from gone where receives > 1))
   select 1 / (select count(*) from gone) as ended`,
);

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

export const groupRefresh = (
  queueId: number,
  groupId: string,
): { statement: Statement; values: unknown[] } => ({
  statement: refresh,
  values: [queueId, [groupId]],
});

const record = statement(
  `insert into tuntas.command (scope, key, request_hash, created_at, expires_at)
   values ($1, $2, $3, tuntas.now(), tuntas.now() + make_interval(secs => $4)) on conflict (scope, key) do nothing returning key`,
);

/** The command record of a handler's own transaction; no row where the key has one already. */
export const commandRecord = ({
  scope,
  key,
  requestHash,
  retentionSeconds,
}: CommandKey): { statement: Statement; values: unknown[] } => ({
  statement: record,
  values: [scope, key, requestHash, retentionSeconds],
});

const recordOrRaise = statement(
  `with kept as (${record.text}) select 1 / (select count(*) from kept) as recorded`,
);

/** The same where nobody looks at the answer before the commit: raises division_by_zero where the key has a record. */
export const commandRecordOrRaise = (key: CommandKey): { statement: Statement; values: unknown[] } => ({
  ...commandRecord(key),
  statement: recordOrRaise,
});

const known = statement(
  `select key, request_hash as "requestHash" from tuntas.command where scope = $1 and key = any($2::text[])`,
);

/** Which of these keys have a command record, with its request hash. */
export async function findCommands(
  sql: Runner,
  scope: string,
  keys: readonly string[],
): Promise<Map<string, string>> {
  const rows = await sql.run<{ key: string; requestHash: string }>(known, [scope, keys]);
  return new Map(rows.map((row) => [row.key, row.requestHash]));
}
