// What tenants have used in this month, for alarms: a budget is a bound on it. Only of those whom an alarm names, since all tenants would be
// labels without a bound, and sums that nobody asked for.
import { metrics, type Reading } from "../../engine/signals.ts";
import { statement } from "../../pg/database.ts";
import type { Runner } from "../../pg/join.ts";

const seconds = "tuntas_tenant_used_seconds";
const uses = "tuntas_tenant_uses";

export const usageMetrics = metrics({
  [seconds]: {
    kind: "gauge",
    meaning:
      "Time that attempts and requests of a tenant have taken since the month began (UTC), of tenants that an alarm on it names.",
    labels: ["tenant"],
    kept: true,
  },
  [uses]: {
    kind: "gauge",
    meaning: "How many attempts and requests those were, of tenants that an alarm on it names.",
    labels: ["tenant"],
    kept: true,
  },
});

const read = statement(
  `select n.metric, n.tenant, coalesce(sum(case n.metric when $1 then u.seconds else u.uses end), 0)::float8 as value
   from (select distinct a.definition::json #>> '{metric,name}' as metric, a.definition::json #>> '{metric,labels,tenant}' as tenant
       from tuntas.alarm a) n
     left join tuntas.usage u on u.tenant = n.tenant and u.day >= date_trunc('month', tuntas.now() at time zone 'UTC')::date
   where n.metric in ($1, $2) and n.tenant is not null group by n.metric, n.tenant`,
);

export async function readUsageGauges(sql: Runner): Promise<Reading[]> {
  const rows = await sql.run<{ metric: string; tenant: string; value: number }>(read, [seconds, uses]);
  return rows.map(({ metric, tenant, value }) => ({ name: metric, labels: { tenant }, value }));
}
