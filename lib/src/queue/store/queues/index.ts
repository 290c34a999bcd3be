// The rows of queues themselves: created, found, changed, deleted.
import type { Sql, Tx } from "../../../pg/contract.ts";
import { statement } from "../../../pg/database.ts";
import { ms } from "../../../pg/instant.ts";
import type { QueueCounts, QueueRecord, QueueSettings, Scope } from "../../contract.ts";

type Runner = Pick<Sql | Tx, "run">;

const columns: Record<keyof QueueSettings, string> = {
  delaySeconds: "delay_seconds",
  visibilitySeconds: "visibility_seconds",
  retentionSeconds: "retention_seconds",
  receiveWaitSeconds: "receive_wait_seconds",
  messageBytesMax: "message_bytes_max",
  deadLetterName: "dead_letter_name",
  receivesMax: "receives_max",
  redriveAllowPolicy: "redrive_allow_policy",
  contentDeduplication: "content_deduplication",
  deduplicationScope: "deduplication_scope",
  throughputLimit: "throughput_limit",
  policy: "policy",
  kmsKeyId: "kms_key_id",
  kmsReuseSeconds: "kms_reuse_seconds",
  sseManaged: "sse_managed",
  owner: "owner",
  runbook: "runbook",
  poison: "poison",
  replayForbidden: "replay_forbidden",
};

const record = `id, account, region, name, fifo,
  ${Object.entries(columns)
    .map(([key, column]) => `${column} as "${key}"`)
    .join(", ")},
  ${ms("paused_at")} as "pausedAtMs", paused_by as "pausedBy", ${ms("purged_at")} as "purgedAtMs",
  ${ms("created_at")} as "createdAtMs", ${ms("modified_at")} as "modifiedAtMs"`;

const find = statement(`select ${record} from tuntas.queue where account = $1 and region = $2 and name = $3`);

export async function findQueue(sql: Runner, scope: Scope, name: string): Promise<QueueRecord | undefined> {
  const rows = await sql.run<QueueRecord>(find, [scope.account, scope.region, name]);
  return rows[0];
}

const findById = statement(`select ${record} from tuntas.queue where id = any($1::int[])`);

export const findQueuesById = (sql: Runner, ids: readonly number[]): Promise<QueueRecord[]> =>
  sql.run<QueueRecord>(findById, [ids]);

const lock = statement(`select ${record} from tuntas.queue where id = $1 for update`);

/** The queue as it is, kept from changing until the transaction ends. */
export async function lockQueue(sql: Runner, id: number): Promise<QueueRecord | undefined> {
  const rows = await sql.run<QueueRecord>(lock, [id]);
  return rows[0];
}

const list = statement(
  `select ${record} from tuntas.queue
   where account = $1 and region = $2 and starts_with(name, $3) and name > $4 order by name limit $5`,
);

/** Queues whose names start with `prefix`, in order of name, after the name `after`. */
export const listQueues = (
  sql: Runner,
  scope: Scope,
  page: { prefix: string; after: string; limit: number },
): Promise<QueueRecord[]> =>
  sql.run<QueueRecord>(list, [scope.account, scope.region, page.prefix, page.after, page.limit]);

const sources = statement(
  `select ${record} from tuntas.queue
   where account = $1 and region = $2 and dead_letter_name = $3 and name > $4 order by name limit $5`,
);

/** The queues whose dead letters go to the queue `name`. */
export const listSources = (
  sql: Runner,
  scope: Scope,
  name: string,
  page: { after: string; limit: number },
): Promise<QueueRecord[]> =>
  sql.run<QueueRecord>(sources, [scope.account, scope.region, name, page.after, page.limit]);

// An insert takes a number even where the row is there, and applications declare their queues at each start.
/** Inserts the queue unless one of that name exists; answers the new record, or undefined. */
export async function insertQueue(
  sql: Runner,
  scope: Scope,
  name: string,
  settings: QueueSettings,
): Promise<QueueRecord | undefined> {
  const keys = Object.keys(settings) as (keyof QueueSettings)[];
  const named = keys.map((key) => `, ${columns[key]}`).join("");
  const values = keys.map((_, index) => `, $${index + 4}`).join("");
  const insert = statement(
    `insert into tuntas.queue (account, region, name, fifo, created_at, modified_at${named})
     select $1, $2, $3, $3 like '%.fifo', tuntas.now(), tuntas.now()${values}
     where not exists (select from tuntas.queue q where q.account = $1 and q.region = $2 and q.name = $3)
     on conflict (account, region, name) do nothing returning ${record}`,
  );
  const rows = await sql.run<QueueRecord>(insert, [
    scope.account,
    scope.region,
    name,
    ...keys.map((key) => settings[key]),
  ]);
  return rows[0];
}

/** Changes the given settings; answers the record as it is now, or undefined where the queue is gone. */
export async function updateQueue(
  sql: Runner,
  id: number,
  settings: QueueSettings,
): Promise<QueueRecord | undefined> {
  const keys = Object.keys(settings) as (keyof QueueSettings)[];
  const assignments = keys.map((key, index) => `, ${columns[key]} = $${index + 2}`).join("");
  const update = statement(
    `update tuntas.queue set modified_at = tuntas.now()${assignments} where id = $1 returning ${record}`,
  );
  const rows = await sql.run<QueueRecord>(update, [id, ...keys.map((key) => settings[key])]);
  return rows[0];
}

const redelay = statement(
  `update tuntas.delayed set due = sent_at + make_interval(secs => $2) where queue_id = $1 and receives = 0`,
);

/** A FIFO queue's new delay also counts for what already waits (Developer Guide, sqs-delay-queues). */
export const redelayFifo = (sql: Runner, id: number, seconds: number) => sql.run(redelay, [id, seconds]);

const pause = statement(
  `update tuntas.queue set paused_at = case when $2::text is null then null else tuntas.now() end, paused_by = $2 where id = $1`,
);

/** Pauses the queue for its workers in the name of `actor`, or resumes it where `actor` is null. */
export const pauseQueue = (sql: Runner, id: number, actor: string | null) => sql.run(pause, [id, actor]);

const withdraw = statement(
  `with found as materialized (
     select w.id from (select id from tuntas.ready where queue_id = $1 union all select id from tuntas.delayed where queue_id = $1) w
     where exists (select from tuntas.message m where m.id = w.id and starts_with(m.body, $2))
   ), gone as (
     delete from tuntas.ready where queue_id = $1 and id = any(array(select id from found)) returning id
   ), late as (
     delete from tuntas.delayed where queue_id = $1 and id = any(array(select id from found)) returning id
   ), ended as (select id from gone union all select id from late),
   bodies as (delete from tuntas.message where id = any(array(select id from ended))),
   failures as (delete from tuntas.failure where id = any(array(select id from ended)))
   select count(*)::int as count from ended`,
);

/** Removes what lies in a standard queue and whose body begins so. What is in flight stays. */
export const withdrawMessages = async (sql: Runner, id: number, beginning: string): Promise<number> =>
  (await sql.run<{ count: number }>(withdraw, [id, beginning]))[0]!.count;

const markPurged = statement(
  `update tuntas.queue set purged_at = tuntas.now() where id = $1 and coalesce(purged_at, '-infinity') < tuntas.now() - interval '60 seconds' returning id`,
);

/** Notes the purge; false where one took place within the last 60 seconds. */
export const markQueuePurged = async (sql: Runner, id: number): Promise<boolean> =>
  (await sql.run(markPurged, [id])).length > 0;

// What lies in quarantine goes too: with the queue, nobody could list or replay it any more. Rejections are a record.
const remove = statement(
  `with gone as (delete from tuntas.queue where id = $1 returning id),
   aside as (delete from tuntas.quarantine where queue_id = any(array(select id from gone)))
   select id from gone`,
);

export const deleteQueue = async (sql: Runner, id: number): Promise<boolean> =>
  (await sql.run(remove, [id])).length > 0;

const count = statement(
  `select (select count(*) from tuntas.ready where queue_id = $1)::float8 as ready,
     (select count(*) from tuntas.held where queue_id = $1)::float8 as "inFlight",
     (select count(*) from tuntas.delayed where queue_id = $1)::float8 as delayed`,
);

export async function countMessages(sql: Runner, id: number): Promise<QueueCounts> {
  const rows = await sql.run<{ ready: number; inFlight: number; delayed: number }>(count, [id]);
  return rows[0]!;
}

const inFlight = statement(
  `select count(*)::int as count from (select from tuntas.held where queue_id = $1 limit $2) f`,
);

/** How many messages of the queue are in flight, counting to `limit` at most. */
export const countInFlight = async (sql: Runner, id: number, limit: number): Promise<number> =>
  (await sql.run<{ count: number }>(inFlight, [id, limit]))[0]!.count;

const tags = statement(`select key, value from tuntas.queue_tag where queue_id = $1 order by key`);

export async function readTags(sql: Runner, id: number): Promise<Record<string, string>> {
  const rows = await sql.run<{ key: string; value: string }>(tags, [id]);
  return Object.fromEntries(rows.map((row) => [row.key, row.value]));
}

const tag = statement(
  `insert into tuntas.queue_tag (queue_id, key, value) select $1, k, v from unnest($2::text[], $3::text[]) as t(k, v)
   on conflict (queue_id, key) do update set value = excluded.value`,
);

export const writeTags = (sql: Runner, id: number, entries: Readonly<Record<string, string>>) =>
  sql.run(tag, [id, Object.keys(entries), Object.values(entries)]);

const untag = statement(`delete from tuntas.queue_tag where queue_id = $1 and key = any($2::text[])`);

export const removeTags = (sql: Runner, id: number, keys: readonly string[]) => sql.run(untag, [id, keys]);
