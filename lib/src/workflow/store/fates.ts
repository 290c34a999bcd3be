// What became of executions, for who started them and waits.
import type { Fate } from "../../engine/destination.ts";
import { statement } from "../../pg/database.ts";
import type { Runner } from "../../pg/join.ts";

/** SQL: the execution has ended, or is not there any more. */
export const isOver = (arn: string): string =>
  `(select e.id from tuntas.execution e where e.arn = ${arn} and e.status in ('RUNNING', 'PENDING_REDRIVE')) is null`;

const fates = statement(
  `select u.arn as reference, case when coalesce(e.status, 'SUCCEEDED') = 'SUCCEEDED' then 'succeeded' else 'failed' end as state,
     case when e.status <> 'SUCCEEDED' then concat_ws(': ', e.status, e.error, e.cause) end as reason,
     case when e.status = 'SUCCEEDED' and e.output like '{%"recordsWritten"%' then e.output end as output
   from unnest($1::text[]) as u(arn) left join tuntas.execution e on e.arn = u.arn
   where e.arn is null or e.status not in ('RUNNING', 'PENDING_REDRIVE')`,
);

/** What an output says as a job's result does; null where it says no count. PostgreSQL's own JSON does not take all of it. */
function recordsWritten(output: string | null): number | null {
  const { recordsWritten: count } = JSON.parse(output ?? "{}") as { readonly recordsWritten?: unknown };
  return Number.isSafeInteger(count) && (count as number) >= 0 ? (count as number) : null;
}

export async function readFates(sql: Runner, arns: readonly string[]): Promise<Fate[]> {
  const rows = await sql.run<Fate & { readonly output: string | null }>(fates, [arns]);
  return rows.map(({ output, ...fate }) => ({ ...fate, recordsWritten: recordsWritten(output) }));
}
