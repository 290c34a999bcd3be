// Services, their revisions and deployments, as people and the console ask for them and change them.
import { statement } from "../../pg/database.ts";
import { ms } from "../../pg/instant.ts";
import type { Tx } from "../../pg/contract.ts";
import type { Runner } from "../../pg/join.ts";
import type {
  Act,
  Deployment,
  Endpoint,
  Instance,
  NotedDecision,
  NumberedRevision,
  Revision,
  ScalingDecision,
  ServiceSummary,
} from "../contract.ts";
import type { Reading } from "../../engine/signals.ts";
import { deploymentColumns, instanceColumns } from "./fields.ts";

/** The duty of whoever controls the services of a machine. */
export const dutyOf = (host: string): string => `services@${host}`;

const registerText = statement(
  `insert into tuntas.service as s (name, host, desired) values ($1, $2, $3)
   on conflict (name) do update set host = coalesce($4, s.host), active = true, desired = case when s.active then least(greatest(s.desired, $5), $6) else $3 end
   returning desired`,
);

/** The service's row, locked: it runs where it ran unless another machine is named, with as many as its rule allows. */
export const registerService = (
  tx: Tx,
  name: string,
  {
    host,
    here,
    scaling: { min, max },
  }: { host: string | undefined; here: string; scaling: Revision["scaling"] },
) => tx.run(registerText, [name, host ?? here, min, host ?? null, min, max]);

const lockText = statement(
  `select s.name, s.host, s.active, s.desired, s.deployment_id::text as "deploymentId" from tuntas.service s where s.name = $1 for update`,
);

export interface ServiceRow {
  readonly name: string;
  readonly host: string;
  readonly active: boolean;
  readonly desired: number;
  readonly deploymentId: string;
}

export const lockService = async (tx: Tx, name: string) =>
  (await tx.run<ServiceRow & {}>(lockText, [name]))[0];

const revisionText = statement(
  `with known as (select revision from tuntas.service_revision where service = $1 and hash = $2 order by revision desc limit 1),
   added as (
     insert into tuntas.service_revision (service, revision, hash, definition, registered_at)
     select $1, coalesce((select max(revision) from tuntas.service_revision where service = $1), 0) + 1, $2, $3, tuntas.now()
     where not exists (select from known) returning revision)
   select revision from known union all select revision from added`,
);

/** The number of the revision with this hash, made where there is none. */
export const registerRevision = async (tx: Tx, name: string, hash: string, definition: Revision) =>
  (await tx.run<{ revision: number }>(revisionText, [name, hash, JSON.stringify(definition)]))[0]!.revision;

const repeatText = statement(
  `insert into tuntas.service_revision (service, revision, hash, definition, registered_at)
   select service, (select max(revision) from tuntas.service_revision where service = $1) + 1, hash, definition, tuntas.now()
   from tuntas.service_revision where service = $1 and revision = $2 returning revision`,
);

/** The same definition under a new number, so that its instances are told from those that run. */
export const repeatRevision = async (tx: Tx, name: string, revision: number): Promise<number> =>
  (await tx.run<{ revision: number }>(repeatText, [name, revision]))[0]!.revision;

const definitionText = statement(
  `select definition from tuntas.service_revision where service = $1 and revision = $2`,
);

export async function findRevision(
  sql: Runner,
  name: string,
  revision: number,
): Promise<Revision | undefined> {
  const [row] = await sql.run<{ definition: string }>(definitionText, [name, revision]);
  return row && (JSON.parse(row.definition) as Revision);
}

const revisionsText = statement(
  `select revision, ${ms("registered_at")} as "registeredAtMs", definition from tuntas.service_revision where service = $1
     and (revision = $2 or revision > (select max(revision) from tuntas.service_revision where service = $1) - 20) order by revision desc`,
);

/** The last twenty and the current one, the newest first. */
export async function listRevisions(
  sql: Runner,
  service: string,
  current: number,
): Promise<NumberedRevision[]> {
  const rows = await sql.run<Omit<NumberedRevision, "definition"> & { definition: string }>(revisionsText, [
    service,
    current,
  ]);
  return rows.map(({ definition, ...row }) => ({ ...row, definition: JSON.parse(definition) as Revision }));
}

export interface NewDeployment extends Act {
  readonly service: string;
  readonly revision: number;
  readonly rollbackOf?: string;
}

const deployText = statement(
  `with before as (
     update tuntas.service_deployment set state = 'superseded', ended_at = tuntas.now()
     where id = (select deployment_id from tuntas.service where name = $1) and state = 'in_progress'
   ), d as (
     insert into tuntas.service_deployment (service, revision, state, rollback_of, actor, reason, started_at)
     values ($1, $2, 'in_progress', $3, $4, $5, tuntas.now()) returning *
   ), current as (update tuntas.service set deployment_id = (select id from d) where name = $1)
   select ${deploymentColumns} from d`,
);

/** The new current deployment; one that was under way is superseded. */
export const insertDeployment = async (
  tx: Tx,
  { service, revision, rollbackOf, actor, reason }: NewDeployment,
): Promise<Deployment> =>
  (
    await tx.run<Deployment & {}>(deployText, [service, revision, rollbackOf ?? null, actor, reason ?? null])
  )[0]!;

const deploymentText = statement(
  `select ${deploymentColumns} from tuntas.service_deployment d where d.id = $1`,
);

export const findDeployment = async (sql: Runner, id: string): Promise<Deployment | undefined> =>
  (await sql.run<Deployment & {}>(deploymentText, [id]))[0];

const deploymentsText = statement(
  `select ${deploymentColumns} from tuntas.service_deployment d where d.service = $1 order by d.id desc limit 20`,
);

/** The newest first. */
export const listDeployments = (sql: Runner, service: string) =>
  sql.run<Deployment & {}>(deploymentsText, [service]);

const instancesText = statement(
  `select ${instanceColumns} from tuntas.service_instance i where i.service = $1 and (i.state <> 'stopped' or i.id in (
     select id from tuntas.service_instance where service = $1 and state = 'stopped' order by stopped_at desc limit 5)) order by i.id`,
);

/** Those that run, and the last five that stopped. */
export const listInstances = (sql: Runner, service: string) =>
  sql.run<Instance & {}>(instancesText, [service]);

const instanceText = statement(
  `select ${instanceColumns} from tuntas.service_instance i where i.service = $1 and i.id = $2`,
);

export const findInstance = async (sql: Runner, service: string, id: string): Promise<Instance | undefined> =>
  (await sql.run<Instance & {}>(instanceText, [service, id]))[0];

const summaryText = statement(
  `select s.name, r.definition::json->>'kind' as kind, s.host, s.active, s.desired, d.revision, d.state as deployment,
     d.rollback_of::text as "rollbackOf", d.failures,
     (select count(*) from tuntas.service_instance i where i.service = s.name and i.state in ('starting', 'running'))::int as running,
     (select count(*) from tuntas.service_instance i where i.service = s.name and i.state = 'running' and i.health = 'healthy')::int as healthy,
     exists (select from tuntas.duty u join tuntas.process p on p.id = u.process_id where u.name = 'services@' || s.host and p.expires_at > tuntas.now()) as controlled
   from tuntas.service s join tuntas.service_deployment d on d.id = s.deployment_id
     join tuntas.service_revision r on r.service = s.name and r.revision = d.revision
   where $1::text is null or s.name = $1 order by s.name`,
);

export const listServices = (sql: Runner, name?: string) =>
  sql.run<ServiceSummary & {}>(summaryText, [name ?? null]);

const decisionText = statement(
  `select decision, ${ms("decided_at")} as "atMs" from tuntas.service where name = $1 and decision is not null`,
);

/** What its scaling rule came to last; null before it was asked. */
export async function findDecision(sql: Runner, name: string): Promise<NotedDecision | null> {
  const [row] = await sql.run<{ decision: string; atMs: number }>(decisionText, [name]);
  return row ? { ...(JSON.parse(row.decision) as ScalingDecision), atMs: row.atMs } : null;
}

const setText = statement(
  `update tuntas.service set desired = $2, active = $3, scaled_at = tuntas.now() where name = $1`,
);

export const setDesired = (tx: Tx, name: string, desired: number, active: boolean) =>
  tx.run(setText, [name, desired, active]);

const stopText = statement(
  `update tuntas.service_instance i set state = 'stopping', stopping_at = tuntas.now(), stop_reason = 'person'
   where i.service = $1 and i.id = $2 and i.state in ('starting', 'running') returning ${instanceColumns}`,
);

export const stopInstance = async (tx: Tx, service: string, id: string): Promise<Instance | undefined> =>
  (await tx.run<Instance & {}>(stopText, [service, id]))[0];

const endpointsText = statement(
  `select id::text as "instanceId", host, port from tuntas.service_instance i
   where service = $1 and state = 'running' and health = 'healthy' and port is not null order by i.id`,
);

export const listEndpoints = (sql: Runner, service: string) =>
  sql.run<Endpoint & {}>(endpointsText, [service]);

const previousText = statement(
  `select d.revision from tuntas.service_deployment d where d.service = $1 and d.state = 'completed'
     and d.revision <> (select c.revision from tuntas.service s join tuntas.service_deployment c on c.id = s.deployment_id where s.name = $1)
   order by d.id desc limit 1`,
);

/** The revision that was completed last before the current one. */
export const previousRevision = async (sql: Runner, service: string): Promise<number | undefined> =>
  (await sql.run<{ revision: number }>(previousText, [service]))[0]?.revision;

export async function readServiceGauges(sql: Runner): Promise<Reading[]> {
  const rows = await listServices(sql);
  return rows.flatMap(({ name: service, desired, running, healthy }) =>
    Object.entries({ desired, running, healthy }).map(([state, value]) => ({
      name: "tuntas_service_instances",
      labels: { service, state },
      value,
    })),
  );
}
