// The shop's batches: the statements of months, one at a time, with a job in each state in which one can be found; and a file
// of the bank that is imported.
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { app, batch, start, type Platform } from "tuntas";
import type { JobState } from "tuntas/batch";

const month = z.object({ month: z.string(), partitions: z.number() });

/** What failed in July, until somebody mends it. */
export const july = { isMended: false };

/** August is not over before the later months are asked for and planned, so that each has its turn by its priority. */
function makeGate() {
  let open = (): void => undefined;
  const isAsked = new Promise<void>((resolve) => (open = resolve));
  return { isAsked, open };
}
const august = makeGate();

const declare = (name: string, { schema }: Platform["database"], owner: string) =>
  batch(name, {
    input: month,
    partitions: ({ partitions }) =>
      Array.from({ length: partitions }, (_, index) => ({ key: `customers-${index}000`, number: index + 1 })),
    async handle({ number }, { job, number: at, write, signal }) {
      if (job.input.month === "2026-07" && number % 5 === 3 && !july.isMended)
        throw Object.assign(new Error(`customer ${number}417 has two ledgers`), { code: "LEDGER_AMBIGUOUS" });
      if (job.input.month === "2026-08" && number === 1) await august.isAsked;
      if (job.input.month === "2026-11" && number > 9)
        await new Promise<void>((resolve) =>
          signal.addEventListener("abort", () => resolve(), { once: true }),
        );
      write(`insert into ${schema}.statement_staging select $1, $2, n from generate_series(1, 1000) n`, [
        job.id,
        at,
      ]);
    },
    validate: ({ rows, partitions }) => (rows === partitions * 1000 ? [] : ["customers are missing"]),
    promote: () => undefined,
    staging: { table: `${schema}.statement_staging`, kept: "1d" },
    retry: { attempts: 2, base: "10ms", max: "20ms" },
    timeout: "10m",
    concurrency: 3,
    runsOn: "anywhere",
    priority: 0,
    owner,
    runbook: `runbooks/${name}.md`,
  });

/** Declares them and does their work, until it is disposed of. */
export async function openBatches(platform: Platform): Promise<AsyncDisposable> {
  const { batches, database } = platform;
  await database.transaction(({ client }) =>
    client.query(
      `create table ${database.schema}.statement_staging (job bigint not null, partition integer not null, n integer)`,
    ),
  );
  const statements = declare("monthly-statements", database, "billing-team");
  const bank = declare("bank-import", database, "payments-team");
  const running = await start(app({ statements, bank }), { platform, drain: "100ms" });
  const imported = bank.start(
    { month: "2026-11-27", partitions: 6 },
    { by: "bookkeeping", key: "bank-2026-11-27" },
  );

  const stands = async (id: string, state: JobState): Promise<void> => {
    while ((await batches.job(id)).state !== state) await sleep(20);
  };
  const begin = async (
    key: string,
    partitions: number,
    priority: number,
    by = "mira",
    reason = "the month is closed",
  ) => {
    const { jobId } = await statements.start({ month: key, partitions }, { key, by, reason, priority });
    await stands(jobId, key === "2026-08" ? "running" : "waiting");
    return jobId;
  };
  await begin("2026-08", 12, 0);
  const failing = await begin("2026-07", 12, 9, "mira", "July once more: the rates were wrong");
  const long = await begin("2026-11", 24, 8, "dewi");
  await begin("2026-10", 24, 5);
  const [paused, cancelled] = [await begin("2026-09", 18, 0), await begin("2026-06", 18, 0)];
  await batches.say("pause", paused, { by: "dewi", reason: "September is audited this week" });
  await batches.say("cancel", cancelled, { by: "mira", reason: "the wrong month" });
  august.open();
  await stands(failing, "failed");
  await stands(long, "running");
  await batches.settled((await imported).jobId);
  return { [Symbol.asyncDispose]: () => running.stop() };
}
