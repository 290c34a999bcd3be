// The log of each service: written in the transaction of what it tells of, read by people.
import { statement } from "../../pg/database.ts";
import { ms } from "../../pg/instant.ts";
import type { Runner } from "../../pg/join.ts";
import type { ServiceEvent } from "../contract.ts";
import { serviceSignals, type ServiceEventName } from "../signals.ts";

export interface NewEvent {
  readonly service: string;
  readonly event: ServiceEventName;
  readonly deploymentId?: string;
  readonly instanceId?: string;
  readonly detail?: Readonly<Record<string, unknown>>;
}

const insertText = statement(
  `insert into tuntas.service_event (service, deployment_id, instance_id, at, event, detail)
   select u.service, u.deployment, u.instance, tuntas.now(), u.event, u.detail
   from unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::text[]) with ordinality
     u(service, deployment, instance, event, detail, number) order by u.number`,
);

export const writeEvents = (sql: Runner, events: readonly NewEvent[]) =>
  sql.run(insertText, [
    events.map(({ service }) => service),
    events.map(({ deploymentId }) => deploymentId ?? null),
    events.map(({ instanceId }) => instanceId ?? null),
    events.map(({ event }) => event),
    events.map(({ detail }) => JSON.stringify(detail ?? {})),
  ]);

/** Tells whoever listens; call it after the commit. */
export function publishEvents(events: readonly NewEvent[]): void {
  for (const { event, detail, ...of } of events)
    serviceSignals.publish(`service.${event}`, { ...of, ...detail });
}

const eventColumns = `e.id::text, ${ms("e.at")} as "atMs", e.event, e.deployment_id::text as "deploymentId",
  e.instance_id::text as "instanceId", e.detail`;

// What happened to old instances while a deployment was under way is part of it.
const logText = statement(
  `select ${eventColumns} from tuntas.service_event e where e.service = $1 and e.id > $3::bigint and ($5::text is null or e.event = $5) and ($2::bigint is null or e.deployment_id = $2 or exists (
     select from tuntas.service_deployment d where d.id = $2 and e.at between d.started_at and coalesce(d.ended_at, 'infinity')))
   order by e.id desc limit $4`,
);

export interface LogFilter {
  readonly deploymentId?: string | undefined;
  /** Only what came after this event. */
  readonly after?: string | undefined;
  /** Only these. */
  readonly event?: ServiceEventName | undefined;
  readonly limit?: number | undefined;
}

type Row = Omit<ServiceEvent, "detail"> & { detail: string };

const fromRow = (row: Row): ServiceEvent => ({
  ...row,
  detail: JSON.parse(row.detail) as ServiceEvent["detail"],
});

// More than a roll-out of hundreds of instances has.
const courseText = statement(
  `select ${eventColumns} from tuntas.service_deployment d
   join tuntas.service_event e on e.service = d.service and e.at between d.started_at and coalesce(d.ended_at, 'infinity')
   where d.id = $1 order by e.id limit 5000`,
);

/** What happened to the service while the deployment was under way. */
export const readCourse = async (sql: Runner, deploymentId: string): Promise<ServiceEvent[]> =>
  (await sql.run<Row>(courseText, [deploymentId])).map(fromRow);

/** The newest, in the order in which they happened. */
export async function readLog(
  sql: Runner,
  service: string,
  { deploymentId, after = "0", event, limit = 100 }: LogFilter,
): Promise<ServiceEvent[]> {
  const rows = await sql.run<Row>(logText, [service, deploymentId ?? null, after, limit, event ?? null]);
  return rows.toReversed().map(fromRow);
}

const forgetText = statement(
  `with old as (delete from tuntas.service_event where at < tuntas.now() - interval '30 days')
   delete from tuntas.service_instance where state = 'stopped' and stopped_at < tuntas.now() - interval '30 days'`,
);

/** Stopped instances and events are kept for thirty days. */
export const forgetOld = (sql: Runner) => sql.run(forgetText);
