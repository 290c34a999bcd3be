// Several questions about one moment: what they answer belongs together, and all of them cost one commit.
import type { Sql } from "./contract.ts";
import { statement } from "./database.ts";
import type { Runner } from "./join.ts";

const asOneMoment = statement("set transaction isolation level repeatable read, read only");

/** Runs `read` on one snapshot of the database; it may not write. */
export const atOneMoment = <T>(sql: Sql, read: (moment: Runner) => Promise<T>): Promise<T> =>
  sql.transaction(async (tx) => {
    await tx.run(asOneMoment);
    return read(tx);
  });
