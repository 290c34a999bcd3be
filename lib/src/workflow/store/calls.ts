// Calls to the outside, and what the clock brings.
import { inMs } from "../../engine/agenda.ts";
import type { Sql, Tx } from "../../pg/contract.ts";
import { statement } from "../../pg/database.ts";

type Runner = Pick<Sql | Tx, "run">;

export interface Call {
  readonly executionId: string;
  readonly key: string;
  readonly command: string;
}

const columns = `c.execution_id::text as "executionId", c.key, c.command`;

const byToken = statement(`select ${columns} from tuntas.workflow_call c where token_hash = $1`);

export async function findByToken(sql: Runner, hash: Buffer): Promise<Call | undefined> {
  const [row] = await sql.run<Call>(byToken, [hash]);
  return row;
}

const beat = statement(
  `with call as (select execution_id, command, heartbeat_seconds from tuntas.workflow_call where token_hash = $1),
   moved as (update tuntas.workflow_due d set due = tuntas.now() + make_interval(secs => c.heartbeat_seconds)
     from call c where c.heartbeat_seconds is not null and d.execution_id = c.execution_id and d.key = 'heartbeat:' || (c.command::json->>'task'))
   select heartbeat_seconds as seconds from call`,
);

const beatOwn = statement(
  `update tuntas.workflow_due set due = tuntas.now() + make_interval(secs => $3) where execution_id = $1 and key = 'heartbeat:' || $2::int`,
);

/** Puts the end of an own task's heartbeat off. */
export const extendHeartbeat = (
  sql: Runner,
  { executionId, task, seconds }: { executionId: string; task: number; seconds: number },
) => sql.run(beatOwn, [executionId, task, seconds]);

/** Puts the heartbeat's end off; undefined where nobody waits for that token. */
export async function extendHeartbeatByToken(
  sql: Runner,
  hash: Buffer,
): Promise<{ seconds: number | null } | undefined> {
  const [row] = await sql.run<{ seconds: number | null }>(beat, [hash]);
  return row;
}

const stopWhere = (isTheCall: string) =>
  statement(
    `with call as (select execution_id, command::json->>'task' as task from tuntas.workflow_call where ${isTheCall}),
     clocks as materialized (select d.execution_id, d.key, d.taken_by from tuntas.workflow_due d join call c on d.execution_id = c.execution_id
       where d.key in ('timeout:' || c.task, 'heartbeat:' || c.task) for update of d),
     stopped as (delete from tuntas.workflow_due d using clocks k where d.execution_id = k.execution_id and d.key = k.key
       and not exists (select from clocks where taken_by is not null))
     select exists (select from call) and not exists (select from clocks where taken_by is not null) as stopped`,
  );

const stopByHash = stopWhere(`token_hash = $1`);
const stopByReference = stopWhere(
  `substring(command from '"token":"([^"]*)"') = $1 and token_hash is not null`,
);

/**
 * Takes the task off the clock in the deciding transaction, so that it cannot time out between the decision and its
 * telling. False where it does not wait any more, or is timing out at this moment.
 */
export async function stopClocks(tx: Runner, tokenHash: Buffer): Promise<boolean> {
  const [row] = await tx.run<{ stopped: boolean }>(stopByHash, [tokenHash]);
  return row!.stopped;
}

/** The same for whoever has the token's reference alone. */
export async function stopClocksOf(tx: Runner, tokenReference: string): Promise<boolean> {
  const [row] = await tx.run<{ stopped: boolean }>(stopByReference, [tokenReference]);
  return row!.stopped;
}

// While a worker is being handed the task, the call is this process's; the advance that notes its start hands it over.
const offer = statement(
  `update tuntas.workflow_call c set owner_id = $2
   where ctid = any(array(select ctid from tuntas.workflow_call
     where activity_arn = $1 and owner_id is null and not started order by execution_id limit 1 for update skip locked))
   returning ${columns}`,
);

/** The next task of an activity that no worker has. */
export async function claimActivityTask(sql: Runner, arn: string, owner: string): Promise<Call | undefined> {
  const [row] = await sql.run<Call>(offer, [arn, owner]);
  return row;
}

const release = statement(
  `update tuntas.workflow_call set owner_id = null where execution_id = $1 and key = $2 and owner_id = $3 and not started`,
);

/** Offers an activity's task again that was not handed out. */
export const releaseCall = (
  sql: Runner,
  { executionId, key }: Pick<Call, "executionId" | "key">,
  owner: string,
) => sql.run(release, [executionId, key, owner]);

const adopt = statement(
  `update tuntas.workflow_call c set owner_id = case when activity_arn is null and pool is null then $2::bigint end
   where ctid = any(array(select ctid from tuntas.workflow_call where owner_id = any($1::bigint[]) limit 500 for update skip locked))
   returning ${columns}, c.activity_arn as activity, c.pool::text as pool`,
);

/** Whose calls are those that nobody makes yet: no process has this id, so they are taken as those of a dead one. */
export const nobody = "0";

/** Makes the calls of dead processes the new owner's; an activity's task is offered again. */
export const adoptCalls = (sql: Runner, dead: readonly string[], owner: string) =>
  sql.run<OwnedCall & { pool: string | null }>(adopt, [dead, owner]);

const owned = statement(
  `select ${columns}, c.activity_arn as activity from tuntas.workflow_call c where owner_id = $1`,
);

/** A call, and whose work it is where workers of an activity do it. */
export interface OwnedCall extends Call {
  readonly activity: string | null;
}

/** What this process is said to be calling, or to be handing out. */
export const listOwnCalls = (sql: Runner, owner: string) => sql.run<OwnedCall & {}>(owned, [owner]);

const orphans = statement(
  `select distinct c.owner_id::text as id from tuntas.workflow_call c
   where c.owner_id is not null and not exists (select from tuntas.process p where p.id = c.owner_id)`,
);
export const findCallOrphans = async (sql: Runner): Promise<string[]> =>
  (await sql.run<{ id: string }>(orphans)).map((row) => row.id);

export interface Due {
  readonly executionId: string;
  readonly key: string;
}

const take = statement(
  `update tuntas.workflow_due d set due = tuntas.now() + interval '10 seconds', taken_by = $1
   where ctid = any(array(select ctid from tuntas.workflow_due where due <= tuntas.now()
     order by due limit $2 for update skip locked))
   returning d.execution_id::text as "executionId", d.key`,
);

export const takeDue = (sql: Runner, owner: string, limit: number) => sql.run<Due>(take, [owner, limit]);

/** When the next timer, timeout or heartbeat ends. */
export const nextDueInstant = "(select due from tuntas.workflow_due order by due limit 1)";

const nextDue = statement(`select ${inMs(nextDueInstant)} as "inMs"`);

export async function nextDueMs(sql: Runner): Promise<number | null> {
  const { inMs } = (await sql.run<{ inMs: number | null }>(nextDue))[0]!;
  return inMs === null ? null : Math.max(0, inMs);
}

/** Tasks of these revisions that no process has. */
export const offeredTasks = `exists (select from tuntas.workflow_call where owner_id is null and pool = any($given))`;

/** Of these executions, one at least awaits nothing any more. */
export const strayTasks = `exists (select from unnest($given) as e
  where not exists (select from tuntas.workflow_call c where c.execution_id = e))`;

/** Of these activities, those that have a task for a worker. */
export const offeredActivities = `array(select a from unnest($given) as a where exists (
  select from tuntas.workflow_call c where c.activity_arn = a and c.owner_id is null and not c.started))`;

const giveBack = statement(
  `update tuntas.workflow_due set due = tuntas.now(), taken_by = null where taken_by = any($1::bigint[])`,
);
/** What dead processes had taken is due at once. */
export const returnDue = (sql: Runner, dead: readonly string[]) => sql.run(giveBack, [dead]);

const drop = statement(`delete from tuntas.workflow_due where execution_id = $1 and key = $2`);
export const dropDue = (sql: Runner, { executionId, key }: Due) => sql.run(drop, [executionId, key]);
