// What waits for people at this moment.
import type { Reading } from "../../engine/signals.ts";
import type { Sql } from "../../pg/contract.ts";
import { statement } from "../../pg/database.ts";

const text = statement(
  `select workflow, task, count(*)::float8 as pending, (count(*) filter (where due_at <= tuntas.now()))::float8 as overdue,
     extract(epoch from tuntas.now() - min(requested_at))::float8 as age
   from tuntas.approval where status = 'pending' group by 1, 2 order by 1, 2 limit 500`,
);

/** The gauges of the tasks that have pending requests. */
export async function readApprovalGauges(sql: Pick<Sql, "run">): Promise<Reading[]> {
  const rows = await sql.run(text);
  return rows.flatMap(({ workflow, task, pending, overdue, age }) => {
    const labels = { workflow: workflow as string, task: task as string };
    return [
      { name: "tuntas_approvals_pending", labels, value: pending as number },
      { name: "tuntas_approvals_overdue", labels, value: overdue as number },
      { name: "tuntas_approval_wait_age_seconds", labels, value: age as number },
    ];
  });
}

const overdue = statement(
  `select subject || ' (' || execution_arn || ')' as name from tuntas.approval
   where status = 'pending' and workflow = $1 and task = $2 and due_at <= tuntas.now() order by due_at limit 1`,
);

/** What the request that is overdue longest is about, and the execution that waits for it. */
export const findOverdueApproval = async (
  sql: Pick<Sql, "run">,
  workflow: string,
  task: string,
): Promise<string | undefined> => (await sql.run<{ name: string }>(overdue, [workflow, task]))[0]?.name;
