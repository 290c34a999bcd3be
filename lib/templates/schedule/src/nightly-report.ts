// A report for each night: of the day that has ended, once, and made up for where nobody was there.
import { app, queue, schedule, worker } from "tuntas";
import { z } from "zod";

const team = { owner: "nightly-report-team", runbook: "runbooks/nightly-report.md" };

export const nightlyReportRun = queue("nightly-report", {
  message: z.object({ window: z.object({ start: z.string(), end: z.string() }) }),
  visibilityTimeout: "60s",
  deadLetter: { after: 3, retention: "14d", ...team },
});

export const nightlyReportWorker = worker(nightlyReportRun, {
  idempotencyKey: "none",
  accepts: { "no-idempotency": "a window that is run again puts right what it wrote" },
  timeout: "20s",
  // What is due is about its window [start, end), however late it runs. Never ask for "the last day from now".
  async handle({ window: { start, end } }, { tx, log }) {
    log.info({ event: "report.begun", start, end }, "a report is made");
    await tx.query(
      `insert into nightly_report.report (day, sales, cents)
       select $1, count(*), coalesce(sum(cents), 0) from nightly_report.sale where at >= $1 and at < $2
       on conflict (day) do update set sales = excluded.sales, cents = excluded.cents`,
      [start, end],
    );
  },
});

export const nightlyReport = schedule("nightly-report", {
  when: "cron(0 2 * * ? *)",
  timeZone: "UTC",
  overlap: "queue", // the next one waits for the last one; or skip, or allow
  catchUp: { all: "7d" }, // each night that was missed; or { latest: "1d" }, or skip
  target: nightlyReportRun,
  succeedsWithin: "2h", // else its owner is told
  ...team,
});

export default app(
  { nightlyReportWorker, nightlyReport },
  {
    migrations: {
      schema: "nightly_report",
      folder: new URL("../migrations/nightly-report/", import.meta.url),
    },
  },
);
