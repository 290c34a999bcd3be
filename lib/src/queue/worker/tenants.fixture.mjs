// A process of its own with a worker that has limits a tenant. It tells its parent how many messages it has done, and when the
// queue is empty.
import { app, openPlatform, queue, start, worker } from "../../../dist/index.js";

const { databaseUrl, schema, name, tenants } = JSON.parse(process.argv[2]);
const message = { "~standard": { version: 1, vendor: "fixture", validate: (value) => ({ value }) } };
let done = 0;

const of = queue(name, {
  message,
  tenant: ({ tenant }) => tenant,
  deadLetter: { after: 5, owner: "documents", runbook: "runbooks/documents.md", retention: "14d" },
  poison: "quarantine",
});

const work = worker(of, {
  idempotencyKey: "none",
  timeout: "60s",
  concurrency: 16,
  tenants,
  async handle() {
    await new Promise((resolve) => setTimeout(resolve, 5));
    process.send({ done: ++done });
  },
});

const platform = await openPlatform({ databaseUrl, schema });
await start(app({ of, work }), { platform });
process.send({ ready: platform.processId() });
const record = await platform.queues.catalog.get({ account: "000000000000", region: "us-east-1" }, name);
setInterval(async () => {
  const { ready, inFlight, delayed } = await platform.queues.catalog.count(record);
  if (ready + inFlight + delayed === 0) process.send({ empty: true });
}, 100);
