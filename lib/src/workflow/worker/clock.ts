// The database's clock, as this process knows it: read now and then, and carried forward in between. It dates the
// history; what is due is decided by the database itself.
import type { Sql } from "../../pg/contract.ts";
import { readNowMs } from "../../pg/clock.ts";

export interface EngineClock {
  nowMs(): number;
  read(): Promise<void>;
}

export function makeEngineClock(database: Pick<Sql, "run">): EngineClock {
  let offsetMs = Date.now() - performance.now();
  return {
    nowMs: () => Math.round(performance.now() + offsetMs),
    async read() {
      const before = performance.now();
      const nowMs = await readNowMs(database);
      offsetMs = nowMs - (before + performance.now()) / 2;
    },
  };
}
