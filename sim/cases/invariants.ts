// What must hold of all cases once everything has come to rest, each as the cases (or rows) that break it.
import type pg from "pg";

const rules: Readonly<Record<string, string>> = {
  "every accepted case has one execution": `select c.case_id from cases.command c left join tuntas.execution e on e.name = c.execution_name group by 1 having count(e.id) <> 1`,
  "every execution has succeeded": `select name || ' ' || status || ' ' || coalesce(error, '') || ' ' || left(coalesce(cause, ''), 300) from tuntas.execution where status <> 'SUCCEEDED'`,
  "control and domain agree on the end": `select c.case_id || ' ' || c.status || ' ' || e.output from cases.cases c join tuntas.execution e on e.arn = c.execution_arn
     where e.output::json->>'finalStatus' is distinct from c.status or c.status not in ('ACTIVE', 'CANCELLED')`,
  "each transition took place once": `select case_id || ' ' || transition from cases.case_audit group by case_id, transition having count(*) > 1`,
  "the record is without gaps": `select c.case_id from cases.cases c join cases.case_audit a using (case_id) group by c.case_id, c.version having count(*) <> c.version or max(a.version) <> c.version`,
  "no number was given twice": `select case_number from cases.cases where case_number is not null group by 1 having count(*) > 1`,
  "an active case has its number confirmed": `select c.case_id from cases.cases c left join tuntas.reservation r on r.id = c.reservation_id where c.status = 'ACTIVE' and r.state is distinct from 'confirmed'`,
  "a case that came to nothing holds no number": `select c.case_id || ' ' || r.state from cases.cases c join tuntas.reservation r on r.id = c.reservation_id where c.status <> 'ACTIVE' and r.state not in ('released', 'expired')`,
  "each execution reserved once": `select holder from tuntas.reservation group by 1 having count(*) > 1`,
  "an active case was approved by enough others": `select c.case_id from cases.cases c left join tuntas.approval a on a.subject = c.case_id and a.status = 'approved'
     left join tuntas.approval_signature s on s.approval_id = a.id and s.decision = 'approve' and s.name <> c.requested_by
     where c.status = 'ACTIVE' group by c.case_id, c.severity having count(distinct s.name) < case c.severity when 'high' then 2 else 1 end`,
  "no request is pending or untold": `select id::text || ' ' || status from tuntas.approval where status = 'pending' or told_at is null`,
  "an active case has its receipt": `select c.case_id from cases.cases c left join cases.notice n using (case_id) where c.status = 'ACTIVE' and n.delivery_status is distinct from 'ACKNOWLEDGED'`,
  // One that never reached the post may be made again without asking; that none came twice, the post knows best.
  "every call to the post is known": `select key || ' ' || state || ' ' || calls from tuntas.side_effect where state <> 'succeeded'`,
  "nothing is left to be announced": `select target_kind || ' ' || coalesce(failure_message, '') from tuntas.outbox`,
  "nobody waits for anything": `select key from tuntas.workflow_call union all select key from tuntas.workflow_due`,
  "no message is left": `select q.name || ' ' || m.receives from tuntas.ready m join tuntas.queue q on q.id = m.queue_id union all select 'delayed' from tuntas.delayed union all select 'in flight' from tuntas.held`,
};

/** What is amiss, a line each; at most five examples of a rule. */
export async function breaches(client: pg.Client): Promise<string[]> {
  const found: string[] = [];
  for (const [rule, text] of Object.entries(rules)) {
    const { rows } = await client.query(text);
    const examples = rows.slice(0, 5).map((row) => Object.values(row)[0]);
    if (rows.length > 0) found.push(`not so: ${rule} (${rows.length}): ${examples.join("; ")}`);
  }
  return found;
}

/** How many cases have not come to an end. */
export async function unfinished(client: pg.Client): Promise<number> {
  const { rows } = await client.query(
    `select (select count(*) from cases.command c where not exists (select from tuntas.execution e where e.name = c.execution_name and e.status <> 'RUNNING'))
       + (select count(*) from tuntas.outbox) + (select count(*) from tuntas.approval where status = 'pending' or told_at is null)
       + (select count(*) from tuntas.ready) + (select count(*) from tuntas.delayed) + (select count(*) from tuntas.held) as n`,
  );
  return Number(rows[0].n);
}

export async function tally(client: pg.Client) {
  const { rows } = await client.query(
    "select status, count(*)::int as n from cases.cases group by 1 order by 1",
  );
  return Object.fromEntries(rows.map(({ status, n }) => [status, n]));
}
