// What a controller writes. Each statement locks the row of its duty first and does nothing where another process has
// it: a controller that was taken for dead cannot start, stop or count anything any more.
import { statement } from "../../pg/database.ts";
import { ms } from "../../pg/instant.ts";
import type { Tx } from "../../pg/contract.ts";
import type { Runner } from "../../pg/join.ts";
import type { Health, Instance, Revision, StopReason } from "../contract.ts";
import type { ServiceView } from "../state.ts";
import { instanceColumns } from "./fields.ts";

/** Whoever controls: the duty, and the process that must have it. */
export interface Holder {
  readonly duty: string;
  readonly processId: string;
}

const holdText = statement(`select 1 from tuntas.duty where name = $1 and process_id = $2 for share`);

/** Whether the duty is still ours, and stays so until the transaction ends. */
export const isHeld = async (tx: Tx, { duty, processId }: Holder): Promise<boolean> =>
  (await tx.run(holdText, [duty, processId])).length === 1;

/** A service as its controller sees it, without its instances. */
export interface Controlled extends Omit<ServiceView, "rollout" | "instances" | "alarms"> {
  readonly name: string;
  readonly host: string;
  readonly active: boolean;
  readonly scaledAtMs: number | null;
  /** What its scaling rule came to last, as JSON. */
  readonly decision: string | null;
  readonly definition: Revision;
}

const controlledText = statement(
  `select s.name, s.host, s.active, ${ms("tuntas.now()")} as "nowMs", case when s.host = $1 then s.desired else 0 end as desired,
     ${ms("s.scaled_at")} as "scaledAtMs", s.decision, r.definition, d.id::text as deployment, d.revision, d.state, d.failures,
     ${ms("d.failed_at")} as "failedAtMs", ${ms("d.started_at")} as "startedAtMs", ${ms("d.steady_at")} as "steadyAtMs", d.rollback_of::text as "rollbackOf",
     (select c.revision from tuntas.service_deployment c where c.service = s.name and c.state = 'completed' and c.id < d.id order by c.id desc limit 1) as "lastCompleted"
   from tuntas.service s join tuntas.service_deployment d on d.id = s.deployment_id
     join tuntas.service_revision r on r.service = s.name and r.revision = d.revision
   where s.host = $1 or exists (select from tuntas.service_instance i where i.service = s.name and i.host = $1 and i.state <> 'stopped')
   order by s.name`,
);

/** The services of a machine, and those that have something left there. */
export async function readControlled(sql: Runner, host: string): Promise<Controlled[]> {
  const rows = await sql.run(controlledText, [host]);
  return rows.map(({ deployment: id, revision, state, failures, definition, ...row }) => {
    const { failedAtMs, startedAtMs, steadyAtMs, rollbackOf, ...rest } = row;
    const times = { failedAtMs, startedAtMs, steadyAtMs };
    const deployment = { id, revision, state, failures, rollbackOf, ...times };
    return { ...rest, definition: JSON.parse(definition), deployment };
  }) as Controlled[];
}

/** An instance that has not stopped, and the database's time when it was read. */
export type Live = Instance & { readonly nowMs: number };

/** What an instance takes. */
export interface Usage {
  readonly id: string;
  readonly memoryBytes: number;
  /** Since it was measured before; null the first time. */
  readonly cpuUnits: number | null;
}

const liveText = statement(
  `select ${instanceColumns}, ${ms("tuntas.now()")} as "nowMs" from tuntas.service_instance i
   where i.host = $1 and i.state <> 'stopped' order by i.id`,
);

export const readLive = (sql: Runner, host: string) => sql.run<Live & {}>(liveText, [host]);

const insertText = statement(
  `insert into tuntas.service_instance as i (service, deployment_id, revision, host, state, port, started_at)
   select $1, $2, $3, $4, 'starting', p, tuntas.now() from unnest($5::int[]) p returning ${instanceColumns}`,
);

/** As many as there are ports; a service without one gets nulls. */
export const insertInstances = (
  tx: Tx,
  { name, deployment }: Pick<Controlled, "name" | "deployment">,
  host: string,
  ports: readonly (number | null)[],
) => tx.run<Instance & {}>(insertText, [name, deployment.id, deployment.revision, host, ports]);

const startedText = statement(
  `update tuntas.service_instance set state = 'running', pid = $2, identity = $3 where id = $1 and state = 'starting' returning id`,
);

export const noteStarted = async (tx: Tx, id: string, pid: number, identity: string): Promise<boolean> =>
  (await tx.run(startedText, [id, pid, identity])).length === 1;

const healthText = statement(
  `with i as (
     update tuntas.service_instance set health = $2, healthy_at = case when $2 = 'healthy' then tuntas.now() else healthy_at end
     where id = $1 and state = 'running' and health <> $2 returning deployment_id
   ), d as (
     update tuntas.service_deployment set failures = 0, failed_at = null where $2 = 'healthy' and failures > 0 and id in (select deployment_id from i)
   ) select 1 from i`,
);

/** One that became healthy ends a row of failures. */
export const noteHealth = async (tx: Tx, id: string, health: Health): Promise<boolean> =>
  (await tx.run(healthText, [id, health])).length === 1;

const stoppingText = statement(
  `update tuntas.service_instance i set state = 'stopping', stopping_at = tuntas.now(), stop_reason = $2
   where i.id = any($1::bigint[]) and i.state in ('starting', 'running') returning ${instanceColumns}`,
);

export const noteStopping = (tx: Tx, ids: readonly string[], reason: StopReason) =>
  tx.run<Instance & {}>(stoppingText, [ids, reason]);

const terminatedText = statement(
  `update tuntas.service_instance set terminated_at = tuntas.now() where id = $1 and state = 'stopping' and terminated_at is null returning id`,
);
const killedText = statement(
  `update tuntas.service_instance set killed_at = tuntas.now(), terminated_at = coalesce(terminated_at, tuntas.now())
   where id = $1 and state = 'stopping' and killed_at is null returning id`,
);

export const noteSignal = async (tx: Tx, id: string, step: "terminate" | "kill"): Promise<boolean> =>
  (await tx.run(step === "kill" ? killedText : terminatedText, [id])).length === 1;

const stoppedText = statement(
  `with i as (
     update tuntas.service_instance i set state = 'stopped', stopped_at = tuntas.now(), stop_reason = coalesce(i.stop_reason, $2), exit = $3
     where i.id = $1 and i.state <> 'stopped' returning ${instanceColumns}
   ), d as (
     update tuntas.service_deployment set failures = failures + 1, failed_at = tuntas.now()
     where id = (select "deploymentId"::bigint from i where "stopReason" = any($4::text[]))
   ) select * from i`,
);

/** Undefined where that was known. Failures are counted where the reason is one of these. */
export const noteStopped = async (
  tx: Tx,
  id: string,
  { reason, exit, failing }: { reason: StopReason; exit: string | null; failing: readonly StopReason[] },
): Promise<Instance | undefined> =>
  (await tx.run<Instance & {}>(stoppedText, [id, reason, exit, failing]))[0];

const usageText = statement(
  `update tuntas.service_instance i set memory_bytes = u.memory, cpu_units = u.cpu, measured_at = tuntas.now()
   from unnest($3::bigint[], $4::bigint[], $5::integer[]) u(id, memory, cpu)
   where i.id = u.id and i.state = 'running' and exists (select from tuntas.duty where name = $1 and process_id = $2)`,
);

export const noteUsage = (sql: Runner, { duty, processId }: Holder, usages: readonly Usage[]) =>
  sql.run(usageText, [
    duty,
    processId,
    usages.map(({ id }) => id),
    usages.map(({ memoryBytes }) => memoryBytes),
    usages.map(({ cpuUnits }) => cpuUnits),
  ]);

const endText = statement(
  `update tuntas.service_deployment set state = $2, ended_at = tuntas.now() where id = $1 and state = 'in_progress' returning id`,
);

export const endDeployment = async (tx: Tx, id: string, state: "completed" | "failed"): Promise<boolean> =>
  (await tx.run(endText, [id, state])).length === 1;

const steadyText = statement(
  `update tuntas.service_deployment set steady_at = tuntas.now() where id = $1 and state = 'in_progress' and steady_at is null returning id`,
);

export const noteSteady = async (tx: Tx, id: string): Promise<boolean> =>
  (await tx.run(steadyText, [id])).length === 1;

const scaleText = statement(
  `update tuntas.service set desired = $3, scaled_at = tuntas.now() where name = $1 and desired = $2 and active returning name`,
);

/** Only from what it was when the rule was asked. */
export const scaleService = async (tx: Tx, name: string, from: number, to: number): Promise<boolean> =>
  (await tx.run(scaleText, [name, from, to])).length === 1;

const decisionText = statement(
  `update tuntas.service set decision = $4, decided_at = tuntas.now()
   where name = $3 and exists (select from tuntas.duty where name = $1 and process_id = $2)`,
);

export const noteDecision = (sql: Runner, { duty, processId }: Holder, name: string, decision: string) =>
  sql.run(decisionText, [duty, processId, name, decision]);

const workingText = statement(
  `select p.pid from tuntas.process p where p.host = $1 and p.pid = any($2::int[]) and p.expires_at > tuntas.now()
     and exists (select from tuntas.held h where h.owner_id = p.id)`,
);

/** Those of these processes that hold a message. */
export const listWorking = async (sql: Runner, host: string, pids: readonly number[]): Promise<number[]> =>
  (await sql.run<{ pid: number }>(workingText, [host, pids])).map(({ pid }) => pid);

const presentText = statement(
  `select pid from tuntas.process where host = $1 and pid = any($2::int[]) and expires_at > tuntas.now()`,
);

/** Whether one of these processes has a heartbeat. */
export const isPresent = async (sql: Runner, host: string, pids: readonly number[]): Promise<boolean> =>
  (await sql.run(presentText, [host, pids])).length > 0;
