// Queues as a list that people watch: each with its depth, its age, who works on it and what of it waits for a person.
// Counts end at a bound, so that watching costs the same however deep a queue is. What lies elsewhere is as it was counted there last.
import type { Sql } from "../../pg/contract.ts";
import { statement } from "../../pg/database.ts";
import type { Scope } from "../contract.ts";
import { depthMax } from "./whereabouts.ts";

type Runner = Pick<Sql, "run">;

export interface QueueSurvey extends Scope {
  readonly id: number;
  readonly name: string;
  readonly fifo: boolean;
  readonly owner: string | null;
  readonly runbook: string | null;
  readonly deadLetterName: string | null;
  readonly receivesMax: number | null;
  /** Whether other queues send their dead letters here. */
  readonly isDeadLetterQueue: boolean;
  readonly pausedAtMs: number | null;
  readonly pausedBy: string | null;
  readonly ready: number;
  readonly inFlight: number;
  readonly delayed: number;
  /** Age of the message at the front; null where none is ready. */
  readonly oldestAgeMs: number | null;
  /** Of this queue in its dead-letter queue. */
  readonly dead: number;
  readonly quarantined: number;
  /** Live processes with a worker of the queue, and the handlers that they run at once, together. */
  readonly consumers: number;
  readonly concurrency: number;
  readonly globalConcurrency: number | null;
}

const ms = (column: string) => `date_part('epoch', ${column}) * 1000`;
const bounded = (from: string) => `(select count(*) from (select from ${from} limit ${depthMax}) c)::float8`;

const survey = statement(
  `select q.id, q.account, q.region, q.name, q.fifo, coalesce(q.owner, s.owner) as owner, coalesce(q.runbook, s.runbook) as runbook,
     q.dead_letter_name as "deadLetterName", q.receives_max as "receivesMax", s.id is not null as "isDeadLetterQueue",
     ${ms("q.paused_at")} as "pausedAtMs", q.paused_by as "pausedBy",
     ${bounded("tuntas.ready t where t.queue_id = q.id")} + coalesce(e.ready, 0) as ready,
     ${bounded("tuntas.held t where t.queue_id = q.id")} + coalesce(e.in_flight, 0) as "inFlight",
     ${bounded("tuntas.delayed t where t.queue_id = q.id")} + coalesce(e.delayed, 0) as delayed,
     (select ${ms("tuntas.now() - r.sent_at")} from tuntas.ready r where r.queue_id = q.id order by r.turn, r.id limit 1) as "oldestAgeMs",
     ${bounded("tuntas.ready t where t.queue_id = d.id and t.source_queue_id = q.id")} + coalesce(e.dead, 0) as dead,
     ${bounded("tuntas.quarantine t where t.queue_id = q.id")} as quarantined,
     w.consumers, w.concurrency, w."globalConcurrency"
   from tuntas.queue q
     left join tuntas.remote_depth e on e.queue_id = q.id and e.counted_at > tuntas.now() - interval '1 minute'
     left join tuntas.queue d on d.account = q.account and d.region = q.region and d.name = q.dead_letter_name
     left join lateral (select s.id, s.owner, s.runbook from tuntas.queue s
       where s.account = q.account and s.region = q.region and s.dead_letter_name = q.name order by s.owner nulls last limit 1) s on true
     cross join lateral (select count(*)::int as consumers, coalesce(sum(c.concurrency), 0)::int as concurrency, min(c.global_concurrency) as "globalConcurrency"
       from tuntas.consumer c join tuntas.process p on p.id = c.process_id and p.expires_at > tuntas.now() where c.queue_id = q.id) w
   where q.account = $1 and q.region = $2 and ($3 = '' or position($3 in q.name) > 0) and ($6::text is null or q.name = $6) and q.name > $4 order by q.name limit $5`,
);

export interface SurveyPage {
  /** The one queue of this name. */
  readonly only?: string;
  /** Part of the name; empty for all. */
  readonly search: string;
  readonly after: string;
  readonly limit: number;
}

/** Queues in the order of their names, after the name `after`. */
export const surveyQueues = (
  sql: Runner,
  { account, region }: Scope,
  { only, search, after, limit }: SurveyPage,
): Promise<QueueSurvey[]> =>
  sql.run(survey, [account, region, search, after, limit, only ?? null]) as Promise<QueueSurvey[]>;

/** A live process that works on a queue. */
export interface QueueConsumer {
  readonly processId: string;
  readonly name: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly startedAtMs: number;
  /** Since its last heartbeat. */
  readonly heartbeatAgeMs: number;
  readonly concurrency: number;
  readonly globalConcurrency: number | null;
  readonly inFlight: number;
}

const consumers = statement(
  `select p.id::text as "processId", p.name, p.host, p.pid, p.version, ${ms("p.started_at")} as "startedAtMs",
     ${ms("tuntas.now() - p.heartbeat_at")} as "heartbeatAgeMs", c.concurrency, c.global_concurrency as "globalConcurrency",
     (select count(*) from tuntas.held f where f.queue_id = c.queue_id and f.owner_id = p.id)::float8 as "inFlight"
   from tuntas.consumer c join tuntas.process p on p.id = c.process_id and p.expires_at > tuntas.now()
   where c.queue_id = $1 order by p.id limit 500`,
);

export const listConsumers = (sql: Runner, queueId: number): Promise<QueueConsumer[]> =>
  sql.run(consumers, [queueId]) as Promise<QueueConsumer[]>;

/** A running process of this installation. */
export interface LiveProcess {
  readonly id: string;
  readonly name: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly startedAtMs: number;
  readonly heartbeatAgeMs: number;
  /** The queues that it works on. */
  readonly queues: readonly string[];
}

const processes = statement(
  `select p.id::text, p.name, p.host, p.pid, p.version, ${ms("p.started_at")} as "startedAtMs",
     ${ms("tuntas.now() - p.heartbeat_at")} as "heartbeatAgeMs",
     array(select q.name from tuntas.consumer c join tuntas.queue q on q.id = c.queue_id where c.process_id = p.id order by 1 limit 100) as queues
   from tuntas.process p where p.expires_at > tuntas.now() order by p.id limit 500`,
);

export const listProcesses = (sql: Runner): Promise<LiveProcess[]> =>
  sql.run(processes) as Promise<LiveProcess[]>;

/** A message that is still alive, as one line of a list. */
export interface LiveMessage {
  readonly id: string;
  readonly messageId: string;
  readonly receives: number;
  readonly ageMs: number;
  readonly groupId: string | null;
  /** When it becomes ready, when its receipt ends, or null. */
  readonly untilMs: number | null;
  readonly heldForMs: number | null;
  /** The process that holds it; null for a receipt, and for what nobody holds. */
  readonly holder: string | null;
  /** The code of its last failure. */
  readonly code: string | null;
  readonly body: string;
  /** Where the next page goes on. */
  readonly cursor: string;
}

export type LiveState = "ready" | "delayed" | "in_flight";

interface Listing {
  readonly table: string;
  readonly cursor: string;
  readonly after: string;
  readonly order: string;
  readonly until: string;
  readonly held: string;
}

const nobody = `null::float8 as "heldForMs", null::text as holder`;

const listings: Readonly<Record<LiveState, Listing>> = {
  ready: {
    table: "ready",
    cursor: "t.turn || '.' || t.id",
    after: "(t.turn, t.id) > (split_part($2, '.', 1)::bigint, split_part($2, '.', 2)::bigint)",
    order: "t.turn, t.id",
    until: "null::float8",
    held: nobody,
  },
  delayed: {
    table: "delayed",
    cursor: "'0.' || t.id",
    after: "t.id > split_part($2, '.', 2)::bigint",
    order: "t.id",
    until: ms("t.due"),
    held: nobody,
  },
  in_flight: {
    table: "held",
    cursor: "'0.' || t.id",
    after: "t.id > split_part($2, '.', 2)::bigint",
    order: "t.id",
    until: ms("t.expires_at"),
    held: `${ms("tuntas.now() - t.claimed_at")} as "heldForMs", (select p.name || ' (pid ' || p.pid || ' on ' || p.host || ')' from tuntas.process p where p.id = t.owner_id) as holder`,
  },
};

const pageOf = ({ table, cursor, after, order, until, held }: Listing) =>
  statement(
    `select t.id::text, m.message_id::text as "messageId", t.receives, ${ms("tuntas.now() - t.sent_at")} as "ageMs", t.group_id as "groupId",
       ${until} as "untilMs", ${held}, f.code, left(m.body, 300) as body, ${cursor} as cursor
     from (select * from tuntas.${table} t where t.queue_id = $1 and ${after} order by ${order} limit $3) t
       join tuntas.message m on m.id = t.id left join tuntas.failure f on f.id = t.id
     order by ${order}`,
  );

const pages = {
  ready: pageOf(listings.ready),
  delayed: pageOf(listings.delayed),
  in_flight: pageOf(listings.in_flight),
};

/** The messages of one state, in the order in which they come, after a cursor. */
export const listMessages = (
  sql: Runner,
  queueId: number,
  { state, after, limit }: { state: LiveState; after: string; limit: number },
): Promise<LiveMessage[]> => sql.run(pages[state], [queueId, after, limit]) as Promise<LiveMessage[]>;
