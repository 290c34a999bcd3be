// What the running executions are like at this moment. Each one waits for the clock or for a call, so the rows of both
// tell of all of them without a look at those that have ended.
import type { Reading } from "../../engine/signals.ts";
import type { Sql } from "../../pg/contract.ts";
import { statement } from "../../pg/database.ts";

const countMax = 10_000;

const live = `waits as (
     (select execution_id, false as outside from tuntas.workflow_due limit ${countMax})
     union all (select execution_id, token_hash is not null and owner_id is null from tuntas.workflow_call limit ${countMax})
   ), live as (select execution_id, bool_or(outside) as outside from waits group by 1)`;

const text = statement(
  `with ${live}
   select m.name as workflow, count(*)::float8 as running, (count(*) filter (where l.outside))::float8 as waiting,
     extract(epoch from tuntas.now() - min(e.started_at))::float8 as "oldestAge",
     coalesce(extract(epoch from tuntas.now() - min(e.started_at) filter (where l.outside))::float8, 0) as "waitingAge"
   from live l join tuntas.execution e on e.id = l.execution_id join tuntas.machine m on m.id = e.machine_id
   group by 1 order by 1 limit 500`,
);

/** The gauges of the machines that have running executions. */
export async function readWorkflowGauges(sql: Pick<Sql, "run">): Promise<Reading[]> {
  const rows = await sql.run(text);
  return rows.flatMap(({ workflow, running, waiting, oldestAge, waitingAge }) => {
    const labels = { workflow: workflow as string };
    return [
      { name: "tuntas_workflow_running", labels, value: running as number },
      { name: "tuntas_workflow_waiting", labels, value: waiting as number },
      { name: "tuntas_workflow_oldest_age_seconds", labels, value: oldestAge as number },
      { name: "tuntas_workflow_callback_wait_age_seconds", labels, value: waitingAge as number },
    ];
  });
}

const oldest = statement(
  `with ${live}
   select e.arn from live l join tuntas.execution e on e.id = l.execution_id join tuntas.machine m on m.id = e.machine_id
   where m.name = $1 and (l.outside or not $2) order by e.started_at limit 1`,
);

/** The ARN of the oldest running execution of a machine; of those alone that wait for somebody outside. */
export const findOldestExecution = async (
  sql: Pick<Sql, "run">,
  workflow: string,
  outside: boolean,
): Promise<string | undefined> => (await sql.run<{ arn: string }>(oldest, [workflow, outside]))[0]?.arn;
