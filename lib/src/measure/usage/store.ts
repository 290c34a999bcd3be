import { statement } from "../../pg/database.ts";
import type { Row, Sql } from "../../pg/contract.ts";

// Thirteen months: a month can be held against the same one a year before.
const keptDays = 400;

/** What a tenant used of a work since it was last written. */
export interface Used {
  readonly work: string;
  /** "" where the work does not say whose it was. */
  readonly tenant: string;
  uses: number;
  seconds: number;
}

/** What is written together, once, however often it is sent. */
export interface Counted {
  readonly id: string;
  readonly used: readonly Used[];
}

// The old goes with the new: nobody cleans up while nothing runs.
const add = statement(
  `with forgotten as (delete from tuntas.usage where day < (tuntas.now() at time zone 'UTC')::date - ${keptDays}
   ), past as (
     delete from tuntas.usage_write where written_at < tuntas.now() - interval '1 day'
   ), once as (
     insert into tuntas.usage_write (id, written_at) values ($5, tuntas.now()) on conflict (id) do nothing returning id
   )
   insert into tuntas.usage as x (day, work, tenant, uses, seconds)
   select (tuntas.now() at time zone 'UTC')::date, u.work, u.tenant, u.uses, u.seconds
   from unnest($1::text[], $2::text[], $3::bigint[], $4::float8[]) as u(work, tenant, uses, seconds), once order by 2, 3
   on conflict (day, work, tenant) do update set uses = x.uses + excluded.uses, seconds = x.seconds + excluded.seconds`,
);

/** Adds it to the day that it is; what was added under its id before is not added again. */
export async function addUsage(sql: Pick<Sql, "run">, { id, used }: Counted): Promise<void> {
  await sql.run(add, [
    used.map(({ work }) => work),
    used.map(({ tenant }) => tenant),
    used.map(({ uses }) => uses),
    used.map(({ seconds }) => seconds),
    id,
  ]);
}

export interface UsageQuery {
  /** So many days up to today, in UTC; 30 by default, 400 are kept. */
  readonly days?: number;
  /** One work only: a queue's name, or "http SERVICE". */
  readonly work?: string;
  /** One tenant only. */
  readonly tenant?: string;
}

/** What a tenant has used of a work. All rows of a work sum to all that was done of it. */
export interface Usage {
  /** A queue's name, or "http SERVICE". */
  readonly work: string;
  /** "" is what said of no tenant. */
  readonly tenant: string;
  /** Attempts of a queue's worker; requests that a service answered. */
  readonly uses: number;
  /** How long those took together. */
  readonly seconds: number;
}

const read = statement(
  `select work, tenant, sum(uses)::float8 as uses, sum(seconds) as seconds from tuntas.usage
   where day > (tuntas.now() at time zone 'UTC')::date - $1::integer
     and ($2::text is null or work = $2) and ($3::text is null or tenant = $3)
   group by work, tenant order by 4 desc, 1, 2`,
);

/** What tenants have used, who took the longest first. */
export const readUsage = (
  sql: Pick<Sql, "run">,
  { days = 30, work, tenant }: UsageQuery = {},
): Promise<Usage[]> => sql.run<Usage & Row>(read, [days, work ?? null, tenant ?? null]);
