import type { Row, Sql } from "../../pg/contract.ts";
import { statement } from "../../pg/database.ts";

export interface RateAsk {
  readonly tenant: string;
  readonly count: number;
  readonly perSecond: number;
  readonly burst: number;
}

export interface Admitted {
  readonly tenant: string;
  readonly admitted: number;
  /** In how many ms one more would be. */
  readonly againMs: number;
}

const admit = statement(
  `select tenant, admitted, again_ms as "againMs"
   from tuntas.admit($1, $2::text[], $3::integer[], $4::float8[], $5::integer[])`,
);

/** Admits of each tenant as many requests as it may make of the service now. */
export const admitRequests = (
  sql: Pick<Sql, "run">,
  service: string,
  asks: readonly RateAsk[],
): Promise<Admitted[]> =>
  sql.run<Admitted & Row>(admit, [
    service,
    asks.map(({ tenant }) => tenant),
    asks.map(({ count }) => count),
    asks.map(({ perSecond }) => perSecond),
    asks.map(({ burst }) => burst),
  ]);

const forget = statement(
  `delete from tuntas.request_rate r where r.ctid = any(array(
     select x.ctid from tuntas.request_rate x where x.next_at < tuntas.now() - interval '1 hour' limit 10000 for update skip locked))`,
);

/** Who has not asked for an hour is new. */
export const forgetRates = async (sql: Pick<Sql, "run">): Promise<void> => void (await sql.run(forget, []));
