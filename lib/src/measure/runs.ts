// How long the jobs of batches took, for whoever asks whether they grow.
import { statement } from "../pg/database.ts";
import { ms } from "../pg/instant.ts";
import type { Sql } from "../pg/contract.ts";

const runsMax = 30;

const runs = statement(
  `select batch, array_agg(ms order by id) as "runsMs" from (
     select batch, id, ${ms("ended_at - begun_at")} as ms,
       row_number() over (partition by batch order by id desc) as back
     from tuntas.batch_job where state = 'completed' and begun_at is not null
   ) as ended where back <= ${runsMax} group by batch order by batch`,
);

/** Of each batch the last thirty jobs that were completed, the oldest first: from when it last began to its end. */
export const readRuns = (
  sql: Pick<Sql, "run">,
): Promise<{ readonly batch: string; readonly runsMs: readonly number[] }[]> => sql.run(runs, []);
