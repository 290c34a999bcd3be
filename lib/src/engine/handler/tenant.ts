// Whose a transaction is, said to the database: policies of row-level security of an application's own tables ask
// current_setting('app.tenant', true), and see nothing where it is not said. It ends with the transaction.
import { statement } from "../../pg/database.ts";
import type { Prepared } from "./transaction.ts";
import type { Write } from "./contract.ts";

const actFor = statement("select set_config('app.tenant', $1, true)");

/** Says for whom a transaction acts from here on. */
export const actingFor = (tenant: string): Prepared => ({ statement: actFor, values: [tenant] });

/** The writes as the tenant's: what shares their commit and comes behind them is nobody's again. */
export function writesFor(tenant: string | undefined, writes: readonly Write[]): readonly Write[] {
  if (tenant === undefined) return writes;
  const { text } = actFor;
  return [{ text, values: [tenant] }, ...writes, { text, values: [""] }];
}
