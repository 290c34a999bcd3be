// What of the ledger waits for somebody at this moment.
import type { Reading } from "../engine/signals.ts";
import type { Sql } from "../pg/contract.ts";
import { statement } from "../pg/database.ts";

const text = statement(
  `select 'tuntas_side_effects' as name, json_build_object('provider', provider, 'operation', operation, 'state', state) as labels,
     count(*)::float8 as value from tuntas.side_effect where state in ('pending', 'unknown') group by provider, operation, state
   union all
   select 'tuntas_discrepancies', json_build_object('name', name, 'anomaly', anomaly), count(*)::float8
   from tuntas.discrepancy where state in ('open', 'manual', 'approved') group by name, anomaly`,
);

export const readLedgerGauges = async (sql: Pick<Sql, "run">): Promise<Reading[]> =>
  (await sql.run(text)) as unknown as Reading[];
