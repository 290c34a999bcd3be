// One owner at a time for a named job, as a user's tool. Who claims gets a fence; only its holder, unexpired, may
// complete. The result stays on the job's row, so that a lost answer can be given again.
import { refuseUnknown, type NamesOf } from "../../core/options.ts";
import type { Duration } from "../../core/duration.ts";
import { toMs } from "../../core/duration.ts";
import { statement } from "../../pg/database.ts";
import { ms } from "../../pg/instant.ts";
import type { Transaction } from "../../pg/join.ts";
import { join } from "../../pg/join.ts";
import { checkKey, resultText } from "../canonical.ts";
import { ledgerErrors } from "../contract.ts";

export interface Lease {
  readonly name: string;
  readonly owner: string;
  readonly fence: string;
  readonly leaseMs: number;
}

export interface ClaimOptions {
  readonly name: string;
  readonly owner: string;
  /** How long it holds without a heartbeat; 2 minutes by default. */
  readonly lease?: Duration;
  /** How long the claimer itself has left, where it knows: zero or less expires at once. */
  readonly remainingMs?: number;
}

const optionNames: NamesOf<ClaimOptions> = { name: true, owner: true, lease: true, remainingMs: true };

/** `takenOver`: an earlier owner fell silent. */
export type LeaseAnswer =
  | { readonly status: "claimed"; readonly lease: Lease; readonly takenOver: boolean }
  | { readonly status: "held"; readonly owner: string; readonly expiresInMs: number }
  | { readonly status: "completed"; readonly result: unknown };

// An update that meets a row lock waits for a claim of the same job, which is one short statement.
const claim = statement(
  `insert into tuntas.lease as l (name, state, owner, fence, expires_at, claimed_at, heartbeat_at)
   values ($1, 'running', $2, nextval('tuntas.fence'), tuntas.now() + make_interval(secs => $3::float8), tuntas.now(), tuntas.now())
   on conflict (name) do update set state = 'running', owner = excluded.owner, fence = excluded.fence, expires_at = excluded.expires_at,
     claimed_at = excluded.claimed_at, heartbeat_at = excluded.heartbeat_at, takeovers = case when l.state = 'running' then l.takeovers + 1 else 0 end
     where l.state = 'released' or (l.state = 'running' and l.expires_at <= tuntas.now())
   returning fence::text, takeovers > 0 as "takenOver"`,
);

const find = statement(
  `select state, owner, result, ${ms("expires_at - tuntas.now()")} as "expiresInMs" from tuntas.lease where name = $1`,
);

/** Claims the job if nobody holds it, or whoever did fell silent. */
export async function claimLease(sql: Transaction, options: ClaimOptions): Promise<LeaseAnswer> {
  refuseUnknown("claimLease", options, optionNames);
  const { name, owner, lease = "2m", remainingMs } = options;
  checkKey("name", name);
  checkKey("owner", owner);
  const leaseMs = Math.max(0, Math.min(toMs(lease, "lease"), remainingMs ?? Infinity));
  const runner = join(sql);
  const [claimed] = await runner.run<{ fence: string; takenOver: boolean }>(claim, [
    name,
    owner,
    leaseMs / 1000,
  ]);
  if (claimed)
    return {
      status: "claimed",
      lease: { name, owner, fence: claimed.fence, leaseMs },
      takenOver: claimed.takenOver,
    };
  const [row] = await runner.run<{
    state: string;
    owner: string;
    result: string | null;
    expiresInMs: number;
  }>(find, [name]);
  if (row?.state === "completed") return { status: "completed", result: JSON.parse(row.result!) };
  return { status: "held", owner: row?.owner ?? "unknown", expiresInMs: Math.max(0, row?.expiresInMs ?? 0) };
}

const mine = `where name = $1 and fence = $2 and state = 'running' and expires_at > tuntas.now() returning name`;

const heartbeat = statement(
  `update tuntas.lease set expires_at = tuntas.now() + make_interval(secs => $3::float8), heartbeat_at = tuntas.now() ${mine}`,
);

const lost = ({ name }: Lease) =>
  ledgerErrors.error(
    "TUNTAS_LEASE_LOST",
    `lease ${name}: expected to hold it, but it ran out or has another owner`,
  );

/** Lets the lease begin anew from now. Errors: TUNTAS_LEASE_LOST. */
export async function heartbeatLease(sql: Transaction, lease: Lease): Promise<void> {
  const rows = await join(sql).run(heartbeat, [lease.name, lease.fence, lease.leaseMs / 1000]);
  if (rows.length === 0) throw lost(lease);
}

const complete = statement(
  `update tuntas.lease set state = 'completed', result = $3, completed_at = tuntas.now() ${mine}`,
);

/** Ends the job with its result, in the caller's transaction if it is one. Errors: TUNTAS_LEASE_LOST, and nothing is changed. */
export async function completeLease(tx: Transaction, lease: Lease, result: unknown): Promise<void> {
  const rows = await join(tx).run(complete, [lease.name, lease.fence, resultText(result)]);
  if (rows.length === 0) throw lost(lease);
}

const giveUp = statement(`update tuntas.lease set state = 'released', expires_at = tuntas.now() ${mine}`);

/** Gives the job back unfinished; harmless where the lease is lost. */
export async function releaseLease(sql: Transaction, lease: Lease): Promise<void> {
  await join(sql).run(giveUp, [lease.name, lease.fence]);
}
