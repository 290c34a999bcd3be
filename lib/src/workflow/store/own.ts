// Own tasks: those that handlers of an application carry out. A row without an owner is for any process that has the
// handlers of its revision.
import type { Sql } from "../../pg/contract.ts";
import { statement } from "../../pg/database.ts";
import type { Call } from "./calls.ts";

type Runner = Pick<Sql, "run">;

const claim = statement(
  `update tuntas.workflow_call c set owner_id = $2
   where ctid = any(array(select ctid from tuntas.workflow_call
     where pool = any($1::bigint[]) and owner_id is null order by pool, execution_id limit $3 for update skip locked))
   returning c.execution_id::text as "executionId", c.key, c.command`,
);

/** Takes tasks that nobody has. */
export const claimOwn = (
  sql: Runner,
  pools: readonly string[],
  { owner, limit }: { owner: string; limit: number },
) => sql.run<Call>(claim, [pools, owner, limit]);

const announce = statement(`select pg_notify('tuntas.own', $1), pg_notify('tuntas.begun', '')`);

/** Tells, with the transaction's commit, that there may be tasks of the revision, and calls that nobody makes yet. */
export const announceIn = (tx: Runner, revision: string) => tx.run(announce, [revision]);

const giveBack = statement(
  `update tuntas.workflow_call set owner_id = null where owner_id = $1 and pool is not null`,
);

/** Leaves all own tasks of the process to others. */
export const giveBackOwn = (sql: Runner, owner: string) => sql.run(giveBack, [owner]);

const release = statement(
  `update tuntas.workflow_call set owner_id = null where execution_id = $1 and key = $2 and owner_id = $3 and pool is not null`,
);

/** Leaves one to others. */
export const releaseOwn = (
  sql: Runner,
  { executionId, key }: Pick<Call, "executionId" | "key">,
  owner: string,
) => sql.run(release, [executionId, key, owner]);
