// What the queues are like at this moment, for charts and alarms. Counts end at 100,000, so that asking costs the same
// however deep a queue is.
import type { Reading } from "../../engine/signals.ts";
import type { Sql } from "../../pg/contract.ts";
import { statement } from "../../pg/database.ts";
import { defaultScope } from "../contract.ts";
import { surveyAllTenants, type TenantSurvey } from "./tenant.ts";
import { depthMax } from "./whereabouts.ts";

const counted = (from: string) => `(select count(*) from (select from ${from} limit ${depthMax}) c)::float8`;
const of = (table: string, id = "q.id") => counted(`tuntas.${table} t where t.queue_id = ${id}`);
const age = (column: string) => `extract(epoch from tuntas.now() - ${column})::float8`;

const text = statement(
  `select q.id, q.account, q.region, q.name, q.dead_letter_name is not null as "hasDeadLetters", 
     ${of("ready")} + coalesce(e.ready, 0) as ready, ${of("held")} + coalesce(e.in_flight, 0) as "inFlight",
     ${of("delayed")} + coalesce(e.delayed, 0) as delayed,
     coalesce((select ${age("r.sent_at")} from tuntas.ready r where r.queue_id = q.id order by r.turn, r.id limit 1), 0) as "oldestAge",
     coalesce((select ${of("ready", "d.id")} + ${of("held", "d.id")} + ${of("delayed", "d.id")} from tuntas.queue d
       where d.account = q.account and d.region = q.region and d.name = q.dead_letter_name), 0) + coalesce(e.dead, 0) as dead,
     ${of("quarantine")} as quarantined, (q.paused_at is not null)::int as paused,
     coalesce(w.workers, 0) as workers, coalesce(w.places, 0) as places
   from tuntas.queue q left join lateral (
     select count(*)::float8 as workers, sum(c.concurrency)::float8 as places from tuntas.consumer c
       join tuntas.process p on p.id = c.process_id and p.expires_at > tuntas.now() where c.queue_id = q.id) w on true
   left join tuntas.remote_depth e on e.queue_id = q.id and e.counted_at > tuntas.now() - interval '1 minute'
   order by q.id limit $1`,
);

interface Row {
  readonly id: number;
  readonly account: string;
  readonly region: string;
  readonly name: string;
  readonly hasDeadLetters: boolean;
  readonly ready: number;
  readonly inFlight: number;
  readonly delayed: number;
  readonly oldestAge: number;
  readonly dead: number;
  readonly quarantined: number;
  readonly paused: number;
  readonly workers: number;
  readonly places: number;
}

/** The queue in a label: its name, with account and region where they are not the default ones. */
export const queueLabel = ({ account, region, name }: Pick<Row, "account" | "region" | "name">): string =>
  account === defaultScope.account && region === defaultScope.region ? name : `${account}/${region}/${name}`;

function readingsOf(row: Row): Reading[] {
  const queue = queueLabel(row);
  const reading = (name: string, value: number, labels = {}): Reading => ({
    name: `tuntas_${name}`,
    labels: { queue, ...labels },
    value,
  });
  const backlog = row.ready / Math.max(1, row.workers);
  return [
    reading("queue_depth", row.ready, { state: "ready" }),
    reading("queue_depth", row.inFlight, { state: "in_flight" }),
    reading("queue_depth", row.delayed, { state: "delayed" }),
    reading("queue_oldest_age_seconds", row.oldestAge),
    ...(row.hasDeadLetters || row.quarantined > 0
      ? [reading("queue_dead_letters", row.dead + row.quarantined)]
      : []),
    reading("queue_paused", row.paused),
    reading("worker_processes", row.workers),
    reading("worker_places", row.places),
    reading("worker_backlog_per_worker", backlog),
  ];
}

export interface QueueGauges {
  readonly readings: readonly Reading[];
  /** The label of each queue, by its id. */
  readonly labels: ReadonlyMap<string, string>;
}

const queuesMax = 500;
/** Of each queue: who has little to wait for is nobody's trouble, and a label for each tenant would have no bound. */
const tenantsMax = 10;

function readingsOfTenant(
  { queueId, tenant, ready, inFlight, oldestAgeMs }: TenantSurvey & { readonly queueId: number },
  queues: ReadonlyMap<string, string>,
): Reading[] {
  const queue = queues.get(String(queueId));
  if (queue === undefined) return [];
  const labels = { queue, tenant };
  return [
    { name: "tuntas_tenant_ready", labels, value: ready },
    { name: "tuntas_tenant_in_flight", labels, value: inFlight },
    { name: "tuntas_tenant_oldest_age_seconds", labels, value: (oldestAgeMs ?? 0) / 1000 },
  ];
}

/** The gauges of the first 500 queues. */
export async function readQueueGauges(sql: Pick<Sql, "run">): Promise<QueueGauges> {
  const rows = (await sql.run(text, [queuesMax])) as unknown as Row[];
  const labels = new Map(rows.map((row) => [String(row.id), queueLabel(row)]));
  const tenants = await surveyAllTenants(sql, tenantsMax);
  return {
    readings: [...rows.flatMap(readingsOf), ...tenants.flatMap((each) => readingsOfTenant(each, labels))],
    labels,
  };
}

const labelsText = statement(
  `select id, account, region, name from tuntas.queue where id = any($1::integer[])`,
);

/** The labels of these queues, by id; a deleted one has none. */
export async function readQueueLabels(
  sql: Pick<Sql, "run">,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = (await sql.run(labelsText, [ids])) as unknown as Row[];
  return new Map(rows.map((row) => [String(row.id), queueLabel(row)]));
}

const frontText = statement(
  `select (select m.message_id from tuntas.message m where m.id = r.id)::text as id
   from tuntas.queue q join tuntas.ready r on r.queue_id = q.id
   where q.name = $1 and q.account = $2 and q.region = $3 order by r.turn, r.id limit 1`,
);

/** Name, account and region of a label. */
function identityOf(label: string): readonly string[] {
  const [name = "", region = defaultScope.region, account = defaultScope.account] = label
    .split("/")
    .toReversed();
  return [name, account, region];
}

/** The id of the message at the front of the queue of this label. */
export async function findOldestMessage(sql: Pick<Sql, "run">, label: string): Promise<string | undefined> {
  const [row] = await sql.run<{ id: string | null }>(frontText, identityOf(label));
  return row?.id ?? undefined;
}

const laidAsideText = statement(
  `select from tuntas.queue d join tuntas.queue q
     on q.account = d.account and q.region = d.region and q.dead_letter_name = d.name
   where d.name = $1 and d.account = $2 and d.region = $3
     and not exists (select from tuntas.consumer c
       join tuntas.process p on p.id = c.process_id and p.expires_at > tuntas.now() where c.queue_id = d.id)
   limit 1`,
);

/** Whether what lies in the queue of this label waits for a person: a dead-letter queue that no process works on. */
export const isLaidAside = async (sql: Pick<Sql, "run">, label: string): Promise<boolean> =>
  (await sql.run(laidAsideText, identityOf(label))).length > 0;
