// A process of its own with one worker, for the tests that kill it. It says what begins, and does what the message's id says.
import { subscribe } from "node:diagnostics_channel";
import { app, openPlatform, queue, start, worker } from "tuntas";
import { sqs } from "@tuntas/aws";

const { databaseUrl, schema, name, sqs: options } = JSON.parse(process.argv[2]);
const message = { "~standard": { version: 1, vendor: "fixture", validate: (value) => ({ value }) } };
const of = queue(name, {
  message,
  deadLetter: { after: 5, owner: "orders", runbook: "runbooks/orders.md", retention: "14d" },
});

// Told in the same turn as the commit: nothing that follows it has left the process.
subscribe("tuntas.worker.attempt", ({ outcome }) => {
  if (outcome === "done") process.kill(process.pid, "SIGKILL");
});

const work = worker(of, {
  idempotencyKey: ({ id }) => id,
  timeout: "60s",
  concurrency: 1,
  async handle({ id }, { tx }) {
    await tx.query(`insert into ${schema}.effect values ($1, 'child')`, [id]);
    process.send({ begun: id });
    if (id.startsWith("hold")) await new Promise(() => undefined);
  },
});

const platform = await openPlatform({ databaseUrl, schema });
await start(app({ of, work }), { platform, ...(options && { queues: sqs(options) }) });
process.send({ ready: true });
