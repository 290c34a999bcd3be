// What the schedules of the chaos begin: a message or an execution, of which each leaves one row through ctx.tx. Nothing but
// the schedules' own promise keeps it from happening twice: the work has no key.
import { queue, task, worker, workflow } from "tuntas";

const anything = {
  "~standard": { version: 1, vendor: "chaos", validate: (value) => ({ value }) },
};

const insert = "insert into chaos.occurred (schedule, due, window_start) values ($1, $2, $3)";
const occur = async ({ schedule, scheduledAt, window }, { tx }) => {
  await tx.query(insert, [schedule, scheduledAt, window.start]);
};

const scheduled = queue("scheduled", {
  message: anything,
  deadLetter: { after: 1000, owner: "chaos", runbook: "sim/README.md", retention: "14d" },
});

export const scheduledWorker = worker(scheduled, { idempotencyKey: "none", timeout: "30s", handle: occur });

export const scheduledWorkflow = workflow("Scheduled", {
  definition: {
    StartAt: "Occur",
    States: {
      Occur: {
        Type: "Task",
        Resource: "occur",
        Retry: [{ ErrorEquals: ["States.ALL"], IntervalSeconds: 1, MaxAttempts: 50, MaxDelaySeconds: 2 }],
        End: true,
      },
    },
  },
  tasks: { occur: task({ idempotent: true, handle: occur }) },
});
