// Locks of entities, held by claims; see 0008-entity-lock.sql for why nobody releases one.
import type { Sql } from "../../pg/contract.ts";
import { statement } from "../../pg/database.ts";
import type { Claim } from "../contract.ts";

export interface EntityClaim extends Claim {
  readonly lockKey: string;
}

const lock = statement(`select tuntas.lock_entities($1, $2::text[], $3::bigint[], $4::bigint[])::text as id`);

/** Takes the locks of claims on one queue, as far as they are free; answers the ids of the messages that got theirs. */
export async function lockEntities(
  sql: Pick<Sql, "run">,
  queueId: number,
  claims: readonly EntityClaim[],
): Promise<Set<string>> {
  const rows = await sql.run<{ id: string }>(lock, [
    queueId,
    claims.map((claim) => claim.lockKey),
    claims.map((claim) => claim.id),
    claims.map((claim) => claim.fence),
  ]);
  return new Set(rows.map((row) => row.id));
}
