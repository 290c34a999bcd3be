// The shop's backfills, a run in each state in which a person has to look at one: waiting for an approval, stopped by its
// verification, running slowly because the database is; and one that is over.
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { app, backfill, start, type Duration, type Platform } from "tuntas";
import type { RunState } from "tuntas/batch";

/** Invoices of Solo whose fee cannot be worked out, until somebody mends them. */
export const solo = { isMended: false };

const scope = z.object({ city: z.string() });
const planned = { by: "ana", reason: "ticket 118: the fee was rounded down" };
const approved = { by: "ben", reason: "the changes are right" };

interface Pace {
  readonly perSecond: number;
  readonly database: Duration;
}

const declare = (name: string, { schema }: Platform["database"], { perSecond, database }: Pace) =>
  backfill(name, {
    scope,
    partitions: () => [
      { key: "small invoices", from: 1, to: 199 },
      { key: "large invoices", from: 200, to: 100_000 },
    ],
    records: {
      table: `${schema}.invoice`,
      key: "id",
      columns: ["id", "cents", "fee"],
      where: ({ city }, { from, to }) => ({
        text: "city = $1 and cents between $2 and $3",
        values: [city, from, to],
      }),
      final: "status = 'void'",
    },
    async handle(records, { tx }) {
      if (records.some(({ cents }) => cents === 207))
        throw Object.assign(new Error("an amount of 207 has no tariff"), { code: "TARIFF_UNKNOWN" });
      await tx.query(`update ${schema}.invoice set fee = ceil(cents * 0.029) where id = any($1)`, [
        records.map(({ id }) => id),
      ]);
    },
    throttle: { perSecond, slowAbove: { database, downstream: "500ms" } },
    abort: { errorShare: 0.02, downstream: "5s" },
    window: "any",
    verify: ({ run }) => (run.scope.city === "Solo" && !solo.isMended ? ["3 invoices have no tariff"] : []),
    rollback: {
      plan: "the fee is rounded down again",
      undo: (records, { tx }) =>
        tx.query(`update ${schema}.invoice set fee = floor(cents * 0.029) where id = any($1)`, [
          records.map(({ id }) => id),
        ]),
    },
    timeout: "1m",
    concurrency: 1,
    runsOn: "anywhere",
    owner: "billing-team",
    runbook: `runbooks/${name}.md`,
  });

/** Invoices, and a database that is slow for whoever goes over those of Malang. */
const invoices = (schema: string) => `
  create table ${schema}.invoice (id bigint generated always as identity primary key, city text not null,
    cents integer not null, fee integer not null, status text not null);
  insert into ${schema}.invoice (city, cents, fee, status)
    select city, 100 + n, floor((100 + n) * 0.029), case when n % 10 = 0 then 'void' else 'paid' end
    from unnest(array['Bandung', 'Medan', 'Solo', 'Malang']) city,
      generate_series(1, case city when 'Malang' then 20000 else 300 end) n;
  create function ${schema}.drag() returns trigger language plpgsql as $$ begin perform pg_sleep(0.06); return new; end $$;
  create trigger drag before update of next_at on ${schema}.backfill_run for each row
    when (new.backfill = 'address-cities' and new.handled = old.handled and new.state = old.state) execute function ${schema}.drag()`;

/** Declares them and does their work, until it is disposed of. */
export async function openBackfills(platform: Platform): Promise<AsyncDisposable> {
  const { backfills, database } = platform;
  await database.transaction(({ client }) => client.query(invoices(database.schema)));
  const fees = declare("invoice-fees", database, { perSecond: 5000, database: "10s" });
  const taxes = declare("invoice-taxes", database, { perSecond: 5000, database: "10s" });
  const cities = declare("address-cities", database, { perSecond: 100, database: "20ms" });
  const running = await start(app({ fees, taxes, cities }), { platform, drain: "100ms" });

  const stands = async (id: string, state: RunState): Promise<void> => {
    while ((await backfills.run(id)).state !== state) await sleep(20);
  };
  const sample = async (name: string, city: string): Promise<string> => {
    const { runId } = await backfills.plan(name, { city }, planned);
    await stands(runId, "planned");
    await backfills.say("dry-run", runId, planned);
    await stands(runId, "sampled");
    return runId;
  };
  const begin = async (name: string, city: string): Promise<string> => {
    const id = await sample(name, city);
    await backfills.say("approve", id, approved);
    await backfills.say("start", id, planned);
    return id;
  };
  await stands(await begin("invoice-fees", "Medan"), "completed");
  await sample("invoice-fees", "Bandung");
  await stands(await begin("invoice-taxes", "Solo"), "paused");
  const slow = await begin("address-cities", "Malang");
  while ((await backfills.run(slow)).pace === 1) await sleep(20);
  return { [Symbol.asyncDispose]: () => running.stop() };
}
