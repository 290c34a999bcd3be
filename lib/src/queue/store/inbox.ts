// Messages of queues that live elsewhere; see 0078-inbox.sql. Every ending re-checks the fence, as in settle.ts.
import type { Row, Sql, Statement, Tx } from "../../pg/contract.ts";
import { statement } from "../../pg/database.ts";
import type { Claim, HeldMessage } from "../contract.ts";
import type { CommandKey } from "./command.ts";
import type { Ended, Failure } from "./settle.ts";

type Runner = Pick<Sql | Tx, "run">;

export interface TakenIn extends Row {
  readonly messageId: string;
  readonly id: string;
  readonly fence: string;
  /** Its work has ended before. */
  readonly ended: boolean;
}

// A new fence for each receive. Whoever held the message until now holds it no longer; where he commits at this moment,
// this waits for him and then finds the message ended.
const takeIn = statement(
  `insert into tuntas.inbox as i (queue_id, message_id, id, fence, receives, received_at, expires_at)
   select q.id, u.message_id, nextval('tuntas.message_id_seq'), nextval('tuntas.fence'), u.receives, tuntas.now(),
     tuntas.now() + make_interval(secs => q.retention_seconds)
   from tuntas.queue q cross join unnest($2::uuid[], $3::int[]) as u(message_id, receives)
   where q.id = $1 order by u.message_id
   on conflict (queue_id, message_id) do update
     set fence = excluded.fence, receives = excluded.receives, received_at = excluded.received_at
   returning message_id::text as "messageId", id::text, fence::text, ended_at is not null as ended`,
);

/** Takes in messages as they were received, each once. */
export const takeInMessages = (
  sql: Runner,
  queueId: number,
  received: readonly { readonly messageId: string; readonly receives: number }[],
): Promise<TakenIn[]> =>
  sql.run<TakenIn>(takeIn, [
    queueId,
    received.map((message) => message.messageId),
    received.map((message) => message.receives),
  ]);

const claims = (items: readonly Pick<Claim, "id" | "fence">[]): unknown[] => [
  items.map((item) => item.id),
  items.map((item) => item.fence),
];

const failures = (items: readonly { readonly failure?: Failure | undefined }[]): unknown[] => [
  items.map((item) => item.failure?.outcome ?? null),
  items.map((item) => item.failure?.code ?? null),
  items.map((item) => item.failure?.message ?? null),
];

// One that had ended before stays what it was.
const kept = (column: string, value: string) =>
  `${column} = case when i.ended_at is null then ${value} else i.${column} end`;
const end = `update tuntas.inbox i set fence = null, ${kept("outcome", "'done'")}, ${kept("code", "null")},
     ${kept("reason", "null")}, ${kept("ended_at", "tuntas.now()")}
   from unnest($1::bigint[], $2::bigint[]) as u(id, fence) where i.id = u.id and i.fence = u.fence returning i.id`;

const done = statement(
  `with gone as (${end}), commands as (
     insert into tuntas.command (scope, key, request_hash, created_at, expires_at)
     select scope, key, request_hash, tuntas.now(), tuntas.now() + make_interval(secs => retention)
     from unnest($3::bigint[], $4::text[], $5::text[], $6::text[], $7::int[]) as u(id, scope, key, request_hash, retention)
     where id = any(array(select id from gone)) order by scope, key
     on conflict (scope, key) do nothing
   ) select id::text from gone`,
);

type Identified = { readonly id: string };

/** Ends messages whose attempts are done, with their command records; answers those that moved. */
export function endDone(
  sql: Runner,
  items: readonly (Claim & { readonly command?: CommandKey | undefined })[],
): Promise<Identified[]> {
  const keyed = items.filter((item) => item.command);
  const commands = keyed.map((item) => item.command!);
  return sql.run<Row & Identified>(done, [
    ...claims(items),
    keyed.map((item) => item.id),
    commands.map((command) => command.scope),
    commands.map((command) => command.key),
    commands.map((command) => command.requestHash),
    commands.map((command) => command.retentionSeconds),
  ]);
}

const doneOrRaise = statement(
  `with gone as (${end}) select 1 / (select count(*) = cardinality($1::bigint[]) from gone)::int as ended`,
);

/** Ends messages at the close of a transaction that does their work: all, or it raises division_by_zero. */
export const endAll = (items: readonly Claim[]): { statement: Statement; values: unknown[] } => ({
  statement: doneOrRaise,
  values: claims(items),
});

const letGo = statement(
  `update tuntas.inbox i set fence = null, outcome = coalesce(u.outcome, i.outcome), code = u.code, reason = u.reason
   from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[]) as u(id, fence, outcome, code, reason)
   where i.id = u.id and i.fence = u.fence returning i.id::text`,
);

/** Gives messages back to where they live; answers those that moved. */
export const letGoOf = (
  sql: Runner,
  items: readonly (Claim & { readonly failure?: Failure | undefined })[],
): Promise<Identified[]> => sql.run<Row & Identified>(letGo, [...claims(items), ...failures(items)]);

const endedWith = (columns: string, record: string) =>
  statement(
    `with u as (
       select * from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[], ${columns}
     ), gone as (
       update tuntas.inbox i set fence = null, outcome = u.outcome, code = u.code, reason = u.reason, ended_at = tuntas.now()
       from u where i.id = u.id and i.fence = u.fence returning i.id, i.queue_id, i.message_id, i.receives
     ), kept as (${record})
     select id::text from gone`,
  );

const reject = endedWith(
  `$6::float8[]) as u(id, fence, outcome, code, reason, sent_ms)`,
  `insert into tuntas.rejection (id, queue_id, message_id, code, reason, receives, sent_at, rejected_at)
   select g.id, g.queue_id, g.message_id, u.code, u.reason, g.receives, to_timestamp(u.sent_ms / 1000), tuntas.now()
   from gone g join u on u.id = g.id`,
);

type WithReason = Ended & HeldMessage;

/** Ends messages by a business no, with its reason; answers those that moved. */
export const endRejected = (sql: Runner, items: readonly WithReason[]): Promise<Identified[]> =>
  sql.run<Row & Identified>(reject, [
    ...claims(items),
    ...failures(items),
    items.map((item) => item.sentAtMs),
  ]);

const quarantine = endedWith(
  `$6::float8[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[])
     as u(id, fence, outcome, code, reason, sent_ms, fingerprint, schema_version, body, attributes, trace_header,
       deduplication_id, group_id, sender)`,
  `insert into tuntas.quarantine (id, queue_id, message_id, outcome, code, message, fingerprint, schema_version, body, attributes,
     trace_header, deduplication_id, group_id, sender, receives, sent_at, quarantined_at)
   select g.id, g.queue_id, g.message_id, u.outcome, u.code, u.reason, u.fingerprint, u.schema_version, u.body, u.attributes,
     u.trace_header, u.deduplication_id, u.group_id, u.sender, g.receives, to_timestamp(u.sent_ms / 1000), tuntas.now()
   from gone g join u on u.id = g.id`,
);

/** Puts messages aside for a person, whole; answers those that moved. */
export const endQuarantined = (sql: Runner, items: readonly WithReason[]): Promise<Identified[]> =>
  sql.run<Row & Identified>(quarantine, [
    ...claims(items),
    ...failures(items),
    items.map((item) => item.sentAtMs),
    items.map((item) => item.failure.fingerprint),
    items.map((item) => item.failure.schemaVersion),
    items.map((item) => item.body),
    items.map((item) => item.attributes),
    items.map((item) => item.traceHeader),
    items.map((item) => item.deduplicationId),
    items.map((item) => item.groupId),
    items.map((item) => item.sender),
  ]);
