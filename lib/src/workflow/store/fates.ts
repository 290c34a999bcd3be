// What became of executions, for who started them and waits.
import type { Fate } from "../../engine/destination.ts";
import { statement } from "../../pg/database.ts";
import type { Runner } from "../../pg/join.ts";

/** SQL: the execution has ended, or is not there any more. */
export const isOver = (arn: string): string =>
  `(select e.id from tuntas.execution e where e.arn = ${arn} and e.status in ('RUNNING', 'PENDING_REDRIVE')) is null`;

const fates = statement(
  `select u.arn as reference, case when coalesce(e.status, 'SUCCEEDED') = 'SUCCEEDED' then 'succeeded' else 'failed' end as state,
     case when e.status <> 'SUCCEEDED' then concat_ws(': ', e.status, e.error, e.cause) end as reason
   from unnest($1::text[]) as u(arn) left join tuntas.execution e on e.arn = u.arn
   where e.arn is null or e.status not in ('RUNNING', 'PENDING_REDRIVE')`,
);

export const readFates = (sql: Runner, arns: readonly string[]): Promise<Fate[]> =>
  sql.run<Fate & {}>(fates, [arns]);
