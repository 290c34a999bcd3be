// Claiming within the limits of each tenant, and what is noted of one; see lib/sql/0113-tenant.sql.
import type { Row, Sql } from "../../pg/contract.ts";
import { statement } from "../../pg/database.ts";
import type { Claim } from "../contract.ts";
import type { LimitColumns, TenantOptions } from "../tenants.ts";
import { depthMax } from "./whereabouts.ts";
import { heldColumns, ms, sortOut, type Claimed, type ClaimRequest, type Picked } from "./claim/index.ts";

type Runner = Pick<Sql, "run">;

export interface TenantRequest extends Pick<ClaimRequest, "queueId" | "count" | "ownerId"> {
  readonly limits: LimitColumns;
  /** Whether to look for messages without a group, too; it looks at all that wait. */
  readonly strays: boolean;
  /** So many failures in a row open a tenant's breaker; null where there is none. */
  readonly failuresMax: number | null;
}

export interface TenantClaim extends Claimed {
  /** When a tenant that stands still may go on; null where none does but for what is held of it. */
  readonly againMs: number | null;
}

const claim = statement(
  `with l as materialized (
     select c.fate, c.dead_letter_id, c.on_trial, c.again_ms, (c.held).*
     from tuntas.claim_tenants($1, $2, $3, nextval('tuntas.fence'), $4, $5, $6, $7, $8) c)
   select ${heldColumns}, l.fate, l.dead_letter_id as "deadLetterId", l.on_trial as "onTrial", l.again_ms as "againMs"
   from l left join lateral tuntas.message_of(l.id) m on true order by l.turn, l.id`,
);

type Answer = Omit<Picked, "fate"> &
  Pick<TenantClaim, "againMs"> & { readonly fate: Picked["fate"] | "next" };

const isPicked = (row: Answer): row is Answer & Picked => row.fate !== "next";

/** Claims up to `count` messages of a standard queue, of each tenant as many as it may have. */
export async function claimTenants(sql: Runner, request: TenantRequest): Promise<TenantClaim> {
  const { queueId, count, ownerId, limits, strays, failuresMax } = request;
  const { names, caps, rates } = limits;
  const values = [queueId, count, ownerId, strays, names, caps, rates, failuresMax];
  const rows = await sql.run<Answer>(claim, values);
  const { againMs } = rows.find((row) => row.fate === "next")!;
  return { ...sortOut(rows.filter(isPicked)), againMs };
}

const regroup = statement(
  `with gone as (
     delete from tuntas.in_flight f using unnest($2::bigint[], $3::bigint[], $4::text[]) as u(id, fence, tenant)
     where f.queue_id = $1 and f.id = u.id and f.fence = u.fence
     returning f.id, f.receives, f.sent_at, f.first_received_at, f.source_queue_id, u.tenant
   )
   insert into tuntas.ready (queue_id, turn, id, receives, sent_at, first_received_at, group_id, source_queue_id)
   select $1, tuntas.next_turn($1, tenant), id, receives - 1, sent_at,
     case when receives > 1 then first_received_at end, tenant, source_queue_id
   from gone`,
);

export interface Regrouping extends Claim {
  readonly tenant: string;
}

/** Gives messages back that are not in their tenants' groups, uncounted, and puts them there. */
export const regroupMessages = (sql: Runner, queueId: number, items: readonly Regrouping[]) =>
  sql.run<Row>(regroup, [
    queueId,
    items.map(({ id }) => id),
    items.map(({ fence }) => fence),
    items.map(({ tenant }) => tenant),
  ]);

// What was running when the breaker opened fails too, which does not hold the tenant up for longer.
const fail = statement(
  `insert into tuntas.tenant as t (queue_id, tenant, failures, open_until, changed_at)
   select $1, u.tenant, u.failures, case when u.failures >= $3 then tuntas.now() + make_interval(secs => $4) end, tuntas.now()
   from (select u.tenant, count(*)::int as failures from unnest($2::text[]) as u(tenant) group by u.tenant) u order by u.tenant
   on conflict (queue_id, tenant) do update set failures = t.failures + excluded.failures, changed_at = excluded.changed_at,
     open_until = case when t.open_until > tuntas.now() or t.failures + excluded.failures < $3 then t.open_until
       else tuntas.now() + make_interval(secs => $4) end
   returning tenant, failures, open_until = tuntas.now() + make_interval(secs => $4) as opened`,
);

export interface BreakerTerms {
  readonly failuresMax: number;
  readonly standstillSeconds: number;
}

/** Counts failures, each by its tenant; answers those that stand still from now on. */
export async function countFailures(
  sql: Runner,
  queueId: number,
  { failures, failuresMax, standstillSeconds }: BreakerTerms & { readonly failures: readonly string[] },
): Promise<{ tenant: string; failures: number }[]> {
  const rows = await sql.run<{ tenant: string; failures: number; opened: boolean | null }>(fail, [
    queueId,
    failures,
    failuresMax,
    standstillSeconds,
  ]);
  return rows.filter(({ opened }) => opened);
}

// Not while it stands still: that success was begun before.
const recover = statement(
  `with found as (
     select t.tenant, t.failures from tuntas.tenant t
     where t.queue_id = $1 and t.tenant = any($2::text[]) and t.failures > 0 and coalesce(t.open_until, '-infinity') <= tuntas.now()
     order by t.tenant for update
   )
   update tuntas.tenant t set failures = 0, open_until = null, changed_at = tuntas.now() from found f
   where t.queue_id = $1 and t.tenant = f.tenant returning t.tenant, f.failures >= $3 as closed`,
);

/** Forgets the failures of tenants of which a message has succeeded; answers those that go on at full speed. */
export async function forgetFailures(
  sql: Runner,
  queueId: number,
  { tenants, failuresMax }: { readonly tenants: readonly string[]; readonly failuresMax: number },
): Promise<string[]> {
  const rows = await sql.run<{ tenant: string; closed: boolean }>(recover, [queueId, tenants, failuresMax]);
  return rows.filter(({ closed }) => closed).map(({ tenant }) => tenant);
}

/** A tenant of a queue as people watch it. */
export interface TenantSurvey {
  readonly tenant: string;
  /** Counted among the first 100,000 that wait in the queue. */
  readonly ready: number;
  readonly inFlight: number;
  /** Of what is in flight of the queue's tenants, from 0 to 1; null where nothing is. */
  readonly share: number | null;
  /** Of its oldest that is ready; null where none is. */
  readonly oldestAgeMs: number | null;
  /** In a row. */
  readonly failures: number;
  /** Until when its breaker holds it; null where that is closed. */
  readonly standsUntilMs: number | null;
}

/** The tenants of the queue `id` that have most to wait for, or are in trouble. */
const busiest = (id: string, count: string): string =>
  `select coalesce(r.tenant, f.tenant, t.tenant) as tenant, coalesce(r.ready, 0)::float8 as ready, coalesce(f.held, 0)::float8 as "inFlight",
     (coalesce(f.held, 0) / sum(f.held) over ())::float8 as share,
     ${ms("tuntas.now() - r.oldest")} as "oldestAgeMs", coalesce(t.failures, 0) as failures,
     case when t.open_until > tuntas.now() then ${ms("t.open_until")} end as "standsUntilMs"
   from (select w.group_id as tenant, count(*) as ready, min(w.sent_at) as oldest from (
       select x.group_id, x.sent_at from tuntas.ready x where x.queue_id = ${id} and x.group_id is not null limit ${depthMax}) w group by w.group_id) r
     full join (select x.group_id as tenant, count(*) as held from tuntas.in_flight x
       where x.queue_id = ${id} and x.group_id is not null group by x.group_id) f on f.tenant = r.tenant
     full join (select x.tenant, x.failures, x.open_until from tuntas.tenant x where x.queue_id = ${id} and x.failures > 0) t
       on t.tenant = coalesce(r.tenant, f.tenant)
   order by 2 desc, 3 desc, 1 limit ${count}`;

const declared = statement(
  `select c.tenants from tuntas.consumer c where c.queue_id = $1 and c.tenants is not null order by c.process_id desc limit 1`,
);

/** The limits that the youngest worker of the queue declares; undefined where none does. */
export async function readTenantOptions(sql: Runner, queueId: number): Promise<TenantOptions | undefined> {
  const [row] = await sql.run<{ tenants: string }>(declared, [queueId]);
  return row && (JSON.parse(row.tenants) as TenantOptions);
}

const survey = statement(busiest("$1", "$2"));

/** The tenants (groups) of a queue that have most to wait for. */
export const surveyTenants = (sql: Runner, queueId: number, count: number): Promise<TenantSurvey[]> =>
  sql.run<TenantSurvey & Row>(survey, [queueId, count]);

const surveyAll = statement(
  `select q.id as "queueId", b.* from (select distinct c.queue_id as id from tuntas.consumer c where c.tenants is not null) q
   cross join lateral (${busiest("q.id", "$1")}) b`,
);

/** The same for each queue whose workers limit tenants: `count` of each. */
export const surveyAllTenants = (
  sql: Runner,
  count: number,
): Promise<(TenantSurvey & { readonly queueId: number })[]> =>
  sql.run<TenantSurvey & Row & { readonly queueId: number }>(surveyAll, [count]);
