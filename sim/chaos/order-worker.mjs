// A worker process for the chaos, of the orders and of what schedules begin: each message leaves one row, written through ctx.tx or ctx.write, whichever its
// number says. It tells its parent when an attempt begins, so that the parent knows what a kill interrupted.
import { app, queue, start, worker } from "tuntas";
import { scheduledWorker, scheduledWorkflow } from "./scheduled-work.mjs";

const text = {
  "~standard": {
    version: 1,
    vendor: "chaos",
    validate: (value) =>
      typeof value?.id === "string" ? { value } : { issues: [{ message: "expected an id" }] },
  },
};

export const chaosWork = queue("chaos-work", {
  message: text,
  deadLetter: { after: 1000, owner: "chaos", runbook: "sim/README.md", retention: "14d" },
});

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const chaosWorker = worker(chaosWork, {
  idempotencyKey: ({ id }) => id,
  timeout: "30s",
  concurrency: 8,
  async handle({ id }, ctx) {
    process.send?.({ begun: id });
    await pause(50);
    const insert = "insert into chaos.effect (id, worker) values ($1, $2)";
    if (id.charCodeAt(id.length - 1) % 2 === 0) await ctx.tx.query(insert, [id, process.pid]);
    else ctx.write(insert, [id, process.pid]);
  },
});

const running = await start(app({ chaosWorker, scheduledWorker, scheduledWorkflow }), {
  databaseUrl: process.env.DATABASE_URL,
  name: "chaos-worker",
});
process.send?.({ ready: true });
process.on("SIGTERM", () => void running.stop().then(() => process.exit(0)));
process.on("disconnect", () => process.exit(0));
