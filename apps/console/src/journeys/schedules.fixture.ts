// The shop's schedules, with what a fortnight would have left behind: a run every night of which one failed, one was missed and
// one is at work; what a person paused; and a close of the books that did not come.
import { z } from "zod";
import { app, queue, rejected, start, worker, type Platform } from "tuntas";
import { schedule, type OccurrenceState, type ScheduleDefinition } from "tuntas/schedule";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

const window = z.object({ start: z.string(), end: z.string() });
const deadLetter = {
  after: 3,
  owner: "billing-team",
  runbook: "runbooks/statement-run.md",
  retention: "14d",
} as const;

const statementRun = queue("statement-run", { message: z.object({ window }), deadLetter });
const stockExport = queue("stock-export", { message: z.object({ window }), deadLetter });
const bookClose = queue("book-close", { message: z.object({ window }), deadLetter });

const shared = { timeZone: "Asia/Jakarta", overlap: "queue", catchUp: { latest: "1d" } } as const;
const billing = { owner: "billing-team", runbook: "runbooks/statement-run.md" };
const warehouse = { owner: "warehouse-team", runbook: "runbooks/stock-export.md" };

const nightly = schedule("nightly-statements", {
  ...shared,
  ...billing,
  when: "cron(0 2 * * ? *)",
  target: statementRun,
  succeedsWithin: "4h",
});
const hourly = schedule("stock-export", {
  ...shared,
  ...warehouse,
  overlap: "skip",
  when: "rate(1 hour)",
  target: stockExport,
  succeedsWithin: "2h",
});
const reminders = schedule("basket-reminders", {
  ...shared,
  ...warehouse,
  when: "cron(30 9 ? * MON-FRI *)",
  target: stockExport,
  succeedsWithin: "30d",
});
const monthly = schedule("book-close", {
  ...shared,
  ...billing,
  when: "cron(0 3 1 * ? *)",
  target: bookClose,
  succeedsWithin: "6h",
});

/** What one window came to so many periods ago. */
interface Remembered {
  readonly ago: number;
  readonly run?: number;
  readonly state: OccurrenceState;
  readonly tookMs?: number;
  readonly reason?: string;
  readonly actor?: string;
}

const remember = (schema: string) =>
  `insert into ${schema}.occurrence (schedule, due, run, window_start, window_end, state, reason, actor, target_kind, target_name, reference,
     decided_at, started_at, ended_at)
   select s.name, o.due, $4, o.due - $2::interval, o.due, $5, $6, $7, s.target_kind, s.target_name, case when $8::float8 is null then null else (4180 - 3 * $3::int + $4::int)::text end,
     o.decided, case when $8::float8 is not null then o.decided end, o.decided + make_interval(secs => coalesce($8, 0) / 1000)
   from ${schema}.schedule s cross join lateral (select d.due, d.due + interval '300 ms' + $4::int * interval '5 hours' as decided
     from (select s.covered_until - $3::int * $2::interval as due) d) o
   where s.name = $1 on conflict do nothing`;

async function recall(
  { database }: Platform,
  { name }: ScheduleDefinition,
  period: string,
  all: readonly Remembered[],
): Promise<void> {
  await database.transaction(async ({ client }) => {
    for (const { ago, run = 0, state, tookMs, reason, actor } of all)
      await client.query(remember(database.schema), [
        name,
        period,
        ago,
        run,
        state,
        reason ?? null,
        actor ?? null,
        tookMs ?? null,
      ]);
  });
}

const nights: readonly Remembered[] = Array.from({ length: 14 }, (_, ago): Remembered => {
  if (ago === 3)
    return {
      ago,
      state: "failed",
      tookMs: 95_000,
      reason: "dead letter: the ledger of day 12 is not balanced",
    };
  if (ago === 9)
    return { ago, state: "missed", reason: "nobody was there until 93600 s later, when a later one was due" };
  return { ago, state: "succeeded", tookMs: 240_000 + ((ago * 7919) % 13) * 60_000 };
});
const byHand: readonly Remembered[] = [
  { ago: 3, run: 1, state: "succeeded", tookMs: 260_000, reason: "the ledger was corrected", actor: "dewi" },
];
const hours: readonly Remembered[] = Array.from({ length: 20 }, (_, ago): Remembered => {
  if (ago === 6 || ago === 7)
    return { ago: ago + 1, state: "skipped", reason: "the one before it still runs" };
  return {
    ago: ago + 1,
    state: "succeeded",
    tookMs: ago === 8 ? 2.3 * hourMs : 60_000 * (4 + ((ago * 5) % 7)),
  };
});

/** Declares them and does their work, until it is disposed of. */
export async function openSchedules(platform: Platform): Promise<AsyncDisposable> {
  const parts = {
    statements: worker(statementRun, {
      idempotencyKey: ({ window: { end } }) => end,
      timeout: "50s",
      handle: ({ window: { start, end } }) =>
        Date.parse(end) - Date.parse(start) > 2 * dayMs ? rejected({ code: "TOO_LONG" }) : undefined,
    }),
    exports: worker(stockExport, {
      idempotencyKey: "none",
      timeout: "10m",
      handle: (_, { signal }) =>
        new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true })),
    }),
  };
  const running = await start(app({ ...parts, bookClose, nightly, hourly, reminders, monthly }), {
    platform,
    drain: "1s",
  });
  const { schedules, database } = platform;
  await schedules.sweep();
  await recall(platform, nightly, "1 day", [...nights, ...byHand]);
  await recall(platform, hourly, "1 hour", hours);
  await schedules.pause(reminders.name, { by: "mira", reason: "the mail provider is changed this week" });
  await database.transaction(({ client }) =>
    client.query(
      `update ${database.schema}.schedule set last_success_at = case name when $1 then covered_until + interval '7 min' when $2 then covered_until else covered_until - interval '51 min' end,
         expected_by = case name when $2 then least(covered_until + interval '6 hours', now() - interval '1 minute') else expected_by end where name = any($3)`,
      [nightly.name, monthly.name, [nightly.name, hourly.name, monthly.name]],
    ),
  );
  return { [Symbol.asyncDispose]: () => running.stop() };
}
