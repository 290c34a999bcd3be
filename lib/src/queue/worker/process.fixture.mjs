// A process of its own with one worker, for the tests that block, stop or kill it. It tells its parent what begins,
// and does what the message's id says.
import { EventEmitter, once } from "node:events";
import { app, openPlatform, queue, start, worker } from "../../../dist/index.js";

const { databaseUrl, schema, name, lock, timeout = "1s" } = JSON.parse(process.argv[2]);
const message = { "~standard": { version: 1, vendor: "fixture", validate: (value) => ({ value }) } };
const released = new EventEmitter();
const known = new Set();
process.on("message", (id) => {
  known.add(id);
  released.emit(id);
});

const of = queue(name, {
  message,
  deadLetter: { after: 5, owner: "orders", runbook: "runbooks/orders.md", retention: "14d" },
});

const work = worker(of, {
  idempotencyKey: ({ id }) => id,
  timeout,
  concurrency: 1,
  ...(lock && { lock: () => "one" }),
  async handle({ id }, { tx }) {
    process.send({ begun: id });
    if (id.startsWith("block")) for (;;);
    await tx.query(`insert into ${schema}.effect values ($1, 'child')`, [id]);
    if (id.startsWith("hold") && !known.has(id)) await once(released, id);
  },
});

const platform = await openPlatform({ databaseUrl, schema });
await start(app({ of, work }), { platform });
process.send({ ready: platform.processId() });
platform.onLost(() => process.send({ lost: true }));
