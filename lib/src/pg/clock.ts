// The database's clock, by which all processes go.
import { statement } from "./database.ts";
import { ms } from "./instant.ts";
import type { Runner } from "./join.ts";

const clock = statement(`select ${ms("tuntas.now()")} as "nowMs"`);

export const readNowMs = async (sql: Runner): Promise<number> =>
  (await sql.run<{ nowMs: number }>(clock))[0]!.nowMs;
