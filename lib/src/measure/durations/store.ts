import { statement } from "../../pg/database.ts";
import type { Sql } from "../../pg/contract.ts";
import { filled, upperMs, type Histogram } from "./state.ts";

const keptDays = 7;

// The old goes with the new: nobody cleans up while nothing runs.
const add = statement(
  `with forgotten as (delete from tuntas.handler_duration where hour < tuntas.now() - interval '${keptDays} days')
   insert into tuntas.handler_duration as d (handler, hour, bucket, attempts)
   select u.handler, date_trunc('hour', tuntas.now()), u.bucket, u.attempts
   from unnest($1::text[], $2::smallint[], $3::bigint[]) as u(handler, bucket, attempts) order by 1, 3
   on conflict (handler, hour, bucket) do update set attempts = d.attempts + excluded.attempts`,
);

/** Adds what ran, of all handlers, to the hour that it is. */
export async function addDurations(
  sql: Pick<Sql, "run">,
  histograms: ReadonlyMap<string, Histogram>,
): Promise<void> {
  const rows = [...histograms].flatMap(([handler, histogram]) =>
    filled(histogram).map((each) => ({ handler, ...each })),
  );
  if (rows.length === 0) return;
  await sql.run(add, [
    rows.map((row) => row.handler),
    rows.map((row) => row.bucket),
    rows.map((row) => row.attempts),
  ]);
}

export interface MeasuredHandler {
  /** A queue's name; of a workflow's task "workflow/task", of a provider "provider operation", of a service "http service". */
  readonly handler: string;
  readonly attempts: number;
  /** Half, 95 and 99 of a hundred attempts took at most this long, to a fifth. */
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  /** At most this long took the longest. */
  readonly maxMs: number;
}

const measured = statement(
  `with sizes as (
     select handler, bucket, sum(attempts) as attempts from tuntas.handler_duration
     where hour >= tuntas.now() - make_interval(secs => $1::float8) group by handler, bucket
   ), ranked as (
     select *, sum(attempts) over (partition by handler order by bucket) as upto, sum(attempts) over (partition by handler) as total from sizes
   )
   select handler, max(total)::float8 as attempts,
     min(bucket) filter (where upto >= 0.5 * total)::int as p50,
     min(bucket) filter (where upto >= 0.95 * total)::int as p95, min(bucket) filter (where upto >= 0.99 * total)::int as p99, max(bucket)::int as longest
   from ranked group by handler order by handler`,
);

/** What handlers took in the last days, by handler: seven days unless it is said otherwise. */
export async function readDurations(
  sql: Pick<Sql, "run">,
  { days = keptDays }: { readonly days?: number } = {},
): Promise<MeasuredHandler[]> {
  type Row = { handler: string; attempts: number; p50: number; p95: number; p99: number; longest: number };
  const rows = await sql.run<Row>(measured, [days * 86_400]);
  return rows.map(({ handler, attempts, p50, p95, p99, longest }) => ({
    handler,
    attempts,
    p50Ms: upperMs(p50),
    p95Ms: upperMs(p95),
    p99Ms: upperMs(p99),
    maxMs: upperMs(longest),
  }));
}
