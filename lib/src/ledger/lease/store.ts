// Leases as a person looks at them.
import { statement } from "../../pg/database.ts";
import { ms } from "../../pg/instant.ts";
import type { Runner } from "../../pg/join.ts";

export interface LeaseRow {
  readonly name: string;
  /** `expired`: whoever held it fell silent, and nobody has claimed it since. */
  readonly state: "running" | "expired" | "released" | "completed";
  readonly owner: string;
  readonly expiresInMs: number;
  readonly claimedAtMs: number;
  readonly heartbeatAtMs: number;
  readonly takeovers: number;
}

const columns = `name, case when state = 'running' and expires_at <= tuntas.now() then 'expired' else state end as state, owner,
  ${ms("expires_at - tuntas.now()")} as "expiresInMs", ${ms("claimed_at")} as "claimedAtMs",
  ${ms("heartbeat_at")} as "heartbeatAtMs", takeovers`;

const list = statement(
  `select * from (select ${columns} from tuntas.lease where $1::text is null or name = $1) l
   where $2::text is null or state = $2 order by state = 'running' desc, "claimedAtMs" desc limit 1000`,
);

export interface LeaseFilter {
  readonly name?: string | undefined;
  readonly state?: LeaseRow["state"] | undefined;
}

/** Who holds which job, those that are held first. */
export const listLeases = (sql: Runner, { name, state }: LeaseFilter = {}): Promise<LeaseRow[]> =>
  sql.run<LeaseRow & {}>(list, [name ?? null, state ?? null]);

const free = statement(
  `update tuntas.lease set state = 'released', expires_at = tuntas.now() where name = $1 and state = 'running' returning ${columns}`,
);

/** Undefined where nobody holds it. */
export const freeLease = async (tx: Runner, name: string): Promise<LeaseRow | undefined> =>
  (await tx.run<LeaseRow & {}>(free, [name]))[0];
