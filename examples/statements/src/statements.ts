// Two schedules as many teams have them. The nightly statements must not miss a night, so what nobody was there for is made up
// for, night by night and in order. The sweep of abandoned carts may: the next one does what this one would have done.
import { app, queue, schedule, worker } from "tuntas";
import { z } from "zod";

const team = { owner: "billing-team", runbook: "runbooks/statements.md" };
const deadLetter = { after: 3, retention: "14d", ...team } as const;

/** What a schedule gives: the window that the work is about, from its start up to and without its end. */
const windowed = z.object({ window: z.object({ start: z.string(), end: z.string() }) });

export const statementRun = queue("statement-run", {
  message: windowed,
  visibilityTimeout: "60s",
  deadLetter,
});

export const statementRunner = worker(statementRun, {
  // The statement's own key makes twice once, and a window that is run again corrects what it wrote.
  idempotencyKey: "none",
  timeout: "50s",
  async handle({ window: { start, end } }, { tx, log }) {
    const { rowCount } = await tx.query(
      `insert into statements.statement (customer_id, window_start, window_end, purchases, cents)
       select customer_id, $1, $2, count(*), sum(cents) from statements.purchase where at >= $1 and at < $2 group by customer_id
       on conflict (customer_id, window_end) do update set purchases = excluded.purchases, cents = excluded.cents`,
      [start, end],
    );
    log.info({ event: "statements.written", start, end, count: rowCount }, "the statements are written");
  },
});

export const nightlyStatements = schedule("nightly-statements", {
  when: "cron(0 2 * * ? *)",
  timeZone: "Asia/Jakarta",
  overlap: "queue",
  catchUp: { all: "7d" },
  target: statementRun,
  succeedsWithin: "4h",
  ...team,
});

export const cartSweep = queue("cart-sweep", { message: windowed, visibilityTimeout: "60s", deadLetter });

export const cartSweeper = worker(cartSweep, {
  idempotencyKey: "none",
  timeout: "50s",
  async handle({ window: { end } }, { tx }) {
    await tx.query("delete from statements.cart where touched_at < $1::timestamptz - interval '30 days'", [
      end,
    ]);
  },
});

export const abandonedCarts = schedule("abandoned-carts", {
  when: "rate(1 hour)",
  timeZone: "UTC",
  overlap: "skip",
  catchUp: "skip",
  target: cartSweep,
  succeedsWithin: "3h",
  ...team,
});

export default app(
  { statementRunner, nightlyStatements, cartSweeper, abandonedCarts },
  { migrations: { schema: "statements", folder: new URL("../migrations/", import.meta.url) } },
);
