// What lies in dead-letter queues and in quarantine, read as one pile: grouped by cause, listed, put back to work, ended.
import type { Sql, Tx } from "../../pg/contract.ts";
import { statement } from "../../pg/database.ts";
import type { DeadGroup, DeadItem, Scope, TriageFilter } from "../contract.ts";

type Runner = Pick<Sql | Tx, "run">;

// A message that nobody ended and nobody explained: received over the wire again and again, never deleted.
const notDeleted = "NOT_DELETED";

// Dead letters lie in ready with the queue that they died in; quarantined messages in a table of their own.
const pile = `
  select 'dead' as place, r.id, m.message_id, r.queue_id as lies_in_id, r.turn, d.name as lies_in, r.source_queue_id as died_in_id,
    coalesce(f.outcome, 'retry') as outcome, coalesce(f.code, '${notDeleted}') as code,
    coalesce(f.message, 'received again and again, and never deleted') as message, coalesce(f.fingerprint, '${notDeleted}') as fingerprint,
    f.schema_version, r.receives, r.sent_at, coalesce(f.failed_at, r.first_received_at, r.sent_at) as seen_at, r.group_id,
    d.owner as place_owner, d.runbook as place_runbook
  from tuntas.queue d
    join tuntas.ready r on r.queue_id = d.id and r.source_queue_id is not null
    cross join lateral (select message_id from tuntas.message m where m.id = r.id offset 0) m
    left join tuntas.failure f on f.id = r.id
  where d.account = $1 and d.region = $2
    and exists (select from tuntas.queue s where s.account = d.account and s.region = d.region and s.dead_letter_name = d.name)
  union all
  select 'quarantined', z.id, z.message_id, z.queue_id, 0, s.name, z.queue_id, z.outcome, z.code, z.message, z.fingerprint,
    z.schema_version, z.receives, z.sent_at, z.quarantined_at, z.group_id, null, null
  from tuntas.queue s join tuntas.quarantine z on z.queue_id = s.id
  where s.account = $1 and s.region = $2`;

// The rule that forbids a replay is the source queue's, by the code of the failure.
const matching = `
  select p.*, s.name as queue, s.fifo, coalesce(s.owner, p.place_owner, 'none') as owner, coalesce(s.runbook, p.place_runbook) as runbook,
    s.replay_forbidden::jsonb ->> p.code as forbidden
  from (${pile}) p left join tuntas.queue s on s.id = p.died_in_id
  where ($3::text is null or s.name = $3 or p.lies_in = $3)
    and ($4::text is null or p.place = $4) and ($5::text is null or p.outcome = $5)
    and ($6::text is null or p.code = $6) and ($7::text is null or p.fingerprint = $7)
    and ($8::text is null or p.schema_version = $8) and ($9::uuid[] is null or p.message_id = any($9::uuid[]))
    and ($10::float8 is null or p.seen_at >= to_timestamp($10::float8 / 1000))
    and ($11::float8 is null or p.seen_at <= to_timestamp($11::float8 / 1000))`;

const values = (scope: Scope, filter: TriageFilter): unknown[] => [
  scope.account,
  scope.region,
  filter.queue ?? null,
  filter.place ?? null,
  filter.outcome ?? null,
  filter.code ?? null,
  filter.fingerprint ?? null,
  filter.schemaVersion ?? null,
  filter.messageIds ?? null,
  filter.sinceMs ?? null,
  filter.untilMs ?? null,
];

const ms = (column: string) => `date_part('epoch', ${column}) * 1000`;
const bodyOf = (id: string) =>
  `coalesce((select body from tuntas.message where message.id = ${id}), (select body from tuntas.quarantine where quarantine.id = ${id}))`;

const groups = statement(
  `with matched as materialized (${matching}), caused as (
     select queue, place, outcome, code, fingerprint, schema_version, count(*)::float8 as count, min(seen_at) as first_seen,
       max(seen_at) as last_seen, max(receives) as receives, min(id) as sample_id, min(owner) as owner, min(runbook) as runbook,
       min(forbidden) as forbidden, min(lies_in) as lies_in, min(message) as message
     from matched group by queue, place, outcome, code, fingerprint, schema_version)
   select queue, place, outcome, code, fingerprint, schema_version as "schemaVersion", message, count,
     ${ms("first_seen")} as "firstSeenAtMs", ${ms("last_seen")} as "lastSeenAtMs", receives as "receivesMax", owner, runbook,
     forbidden as "replayForbidden", lies_in as "liesIn", left(${bodyOf("sample_id")}, 4000) as "sampleBody"
   from caused order by count desc, queue, code, fingerprint limit 1000`,
);

/** The causes, the most frequent first. */
export const findGroups = (sql: Runner, scope: Scope, filter: TriageFilter): Promise<DeadGroup[]> =>
  sql.run(groups, values(scope, filter)) as Promise<DeadGroup[]>;

const items = statement(
  `with matched as materialized (${matching})
   select id::text, message_id::text as "messageId", queue, place, lies_in as "liesIn", outcome, code, message, fingerprint,
     schema_version as "schemaVersion", receives, ${ms("sent_at")} as "sentAtMs", ${ms("seen_at")} as "seenAtMs", group_id as "groupId",
     owner, runbook, forbidden as "replayForbidden", ${bodyOf("matched.id")} as body
   from matched where id > $12 order by matched.id limit $13`,
);

/** The messages themselves, in the order in which they were sent, after the id `after`. */
export const findItems = (
  sql: Runner,
  scope: Scope,
  filter: TriageFilter,
  page: { after: string; limit: number },
): Promise<DeadItem[]> =>
  sql.run(items, [...values(scope, filter), page.after, page.limit]) as Promise<DeadItem[]>;

/** How much of a selection is of one kind, so far as it matters to whether it may be replayed. */
export interface Tally {
  readonly queue: string | null;
  readonly diedInId: number;
  readonly fifo: boolean | null;
  readonly code: string;
  readonly outcome: string;
  readonly forbidden: string | null;
  readonly count: number;
}

const tally = statement(
  `with matched as materialized (${matching})
   select queue, died_in_id as "diedInId", fifo, code, outcome, forbidden, count(*)::float8 as count
   from matched group by 1, 2, 3, 4, 5, 6 order by 1, 4`,
);

export const tallySelection = (sql: Runner, scope: Scope, filter: TriageFilter): Promise<Tally[]> =>
  sql.run(tally, values(scope, filter)) as Promise<Tally[]>;

/** A message of a slice, before it is locked. */
export interface Candidate {
  readonly id: string;
  readonly messageId: string;
  readonly place: "dead" | "quarantined";
  readonly liesInId: number;
  readonly diedInId: number;
  readonly turn: string;
  readonly groupId: string | null;
  /** The queue that it died in; null where that is deleted. */
  readonly queue: string | null;
  readonly fifo: boolean | null;
  readonly code: string;
  readonly outcome: string;
  /** The rule that forbids to replay it. */
  readonly forbidden: string | null;
}

const candidates = statement(
  `with matched as materialized (${matching})
   select id::text, message_id::text as "messageId", place, lies_in_id as "liesInId", died_in_id as "diedInId", turn::text, group_id as "groupId",
     queue, fifo, code, outcome, forbidden
   from matched where id > $12 and ($14 or forbidden is null) order by matched.id limit $13`,
);

/** The next slice of a selection, without what may not be replayed unless `forbiddenToo`. */
export const findCandidates = (
  sql: Runner,
  scope: Scope,
  filter: TriageFilter,
  page: { after: string; limit: number; forbiddenToo: boolean },
): Promise<Candidate[]> =>
  sql.run(candidates, [...values(scope, filter), page.after, page.limit, page.forbiddenToo]) as Promise<
    Candidate[]
  >;

const lockGroups = statement(
  `select tuntas.lock_group($1::int, g.name) from (select distinct name from unnest($2::text[]) as u(name) order by name) g`,
);

/** Locks groups of a FIFO queue before their messages are touched, as a claim does: in the other order the two deadlock. */
export async function lockFifoGroups(
  tx: Runner,
  queueId: number,
  groupIds: readonly string[],
): Promise<void> {
  await tx.run(lockGroups, [queueId, groupIds]);
}

// What somebody else moves or receives at this moment is skipped: it is no longer lying there.
const takeDead = `taken as (
     delete from tuntas.ready where ctid = any(array(
       select c.ctid from unnest($1::int[], $2::bigint[], $3::bigint[]) as u(queue_id, turn, id)
         join tuntas.ready c on c.queue_id = u.queue_id and c.turn = u.turn and c.id = u.id for update of c skip locked))
     returning *
   ), failed as (delete from tuntas.failure where id = any(array(select id from taken)))`;
const takeQuarantined = `taken as (
     delete from tuntas.quarantine where ctid = any(array(
       select ctid from tuntas.quarantine where id = any($1::bigint[]) for update skip locked))
     returning *
   )`;

const places = (list: readonly Candidate[]): unknown[] => [
  list.map((item) => item.liesInId),
  list.map((item) => item.turn),
  list.map((item) => item.id),
];

// A replayed message begins anew: no receives, sent and its retention counted from now. Its body, attributes and ids stay.
const putBack = (target: string) => `
  insert into tuntas.ready (queue_id, turn, id, receives, sent_at, group_id)
  select q.id, case when q.fifo then 0 else tuntas.next_turn(q.id, t.group_id) end, t.id, 0, tuntas.now(), t.group_id
  from taken t join tuntas.queue q on q.id = ${target} returning id`;

const replayDead = statement(
  `with ${takeDead}, dated as (
     update tuntas.message set sent_at = tuntas.now() where id = any(array(select id from taken))
   ), back as (${putBack("coalesce($4::int, t.source_queue_id)")}) select id::text from back`,
);
const replayQuarantined = statement(
  `with ${takeQuarantined}, bodies as (
     insert into tuntas.message (id, message_id, sent_at, sender, body, attributes, trace_header, deduplication_id)
     select id, message_id, tuntas.now(), sender, body, attributes, trace_header, deduplication_id from taken
   ), back as (${putBack("coalesce($2::int, t.queue_id)")})
   select id::text from back`,
);

const idsOf = (rows: readonly { id: string }[]): string[] => rows.map((row) => row.id);

/** Puts messages back to where they died, or into `targetId`; answers the ids that it moved. */
export async function replaySlice(
  tx: Runner,
  slice: readonly Candidate[],
  targetId: number | null,
): Promise<string[]> {
  const { dead, quarantined } = divide(slice);
  const moved =
    dead.length === 0 ? [] : await tx.run<{ id: string }>(replayDead, [...places(dead), targetId]);
  const freed =
    quarantined.length === 0
      ? []
      : await tx.run<{ id: string }>(replayQuarantined, [idsOf(quarantined), targetId]);
  return idsOf([...moved, ...freed]);
}

const rejectedColumns = `insert into tuntas.rejection (id, queue_id, message_id, code, reason, receives, sent_at, rejected_at)`;
const rejectDead = statement(
  `with ${takeDead}, bodies as (delete from tuntas.message where id = any(array(select id from taken)) returning id, message_id),
   ended as (
     ${rejectedColumns}
     select t.id, t.source_queue_id, b.message_id, $4, $5, t.receives, t.sent_at, tuntas.now() from taken t join bodies b on b.id = t.id
     returning id)
   select id::text from ended`,
);
const rejectQuarantined = statement(
  `with ${takeQuarantined}, ended as (
     ${rejectedColumns}
     select id, queue_id, message_id, $2, $3, receives, sent_at, tuntas.now() from taken returning id)
   select id::text from ended`,
);

/** Ends messages by a business no; answers the ids that it ended. */
export async function rejectSlice(
  tx: Runner,
  slice: readonly Candidate[],
  code: string,
  reason: string,
): Promise<string[]> {
  const { dead, quarantined } = divide(slice);
  const moved =
    dead.length === 0 ? [] : await tx.run<{ id: string }>(rejectDead, [...places(dead), code, reason]);
  const freed =
    quarantined.length === 0
      ? []
      : await tx.run<{ id: string }>(rejectQuarantined, [idsOf(quarantined), code, reason]);
  return idsOf([...moved, ...freed]);
}

const divide = (slice: readonly Candidate[]) => ({
  dead: slice.filter((item) => item.place === "dead"),
  quarantined: slice.filter((item) => item.place === "quarantined"),
});
