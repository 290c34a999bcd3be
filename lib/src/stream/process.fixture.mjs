// A process of its own with consumers, for the tests with many of them and those that block or kill one. Its argument: where,
// which stream and how many partitions, how many platforms (each a worker like any other), and what it does at a number: those
// that `meet` begin only when all of them can, or after a second.
import { setTimeout } from "node:timers/promises";
import { app, consumer, openPlatform, start, stream } from "../../dist/index.js";

const {
  databaseUrl,
  schema,
  name,
  partitions,
  who,
  platforms = 1,
  timeout,
  blockAt,
  holdAt,
  killAt,
  cutAt,
  meet = [],
  options,
} = JSON.parse(process.argv[2]);
const record = { "~standard": { version: 1, vendor: "fixture", validate: (value) => ({ value }) } };
let holds = true;
const begun = new Set();
let all;
const together = new Promise((resolve) => (all = resolve));
async function met(n) {
  begun.add(n);
  if (meet.every((each) => begun.has(each))) all();
  await Promise.race([together, setTimeout(1000)]);
}
process.on("message", () => (holds = false));

async function serve(number) {
  const of = stream(name, {
    record,
    partitions,
    key: "order id",
    retention: "1h",
    owner: "orders-team",
    runbook: "runbooks/streams.md",
  });
  const projector = consumer(of, {
    name: "projector",
    from: "start",
    batch: 10,
    onBadRecord: "stop",
    retry: { attempts: 3 },
    timeout,
    lagWithin: "5m",
    ...options,
    async handle({ id, key, value }, { tx }) {
      process.send({ began: value.n });
      if (meet.includes(value.n)) await met(value.n);
      if (value.n === killAt) process.kill(process.pid, "SIGKILL");
      if (value.n === blockAt) for (;;);
      const values = [name, id, key, value.n, `${who} ${number}`];
      await tx.query(
        `insert into ${schema}.effect (stream, id, key, n, who) values ($1, $2, $3, $4, $5)`,
        values,
      );
      if (value.n === cutAt && holds) {
        holds = false;
        await tx.query("select pg_terminate_backend(pg_backend_pid())").catch(() => undefined);
      }
      if (value.n === holdAt && holds) await new Promise(() => undefined);
    },
  });
  const platform = await openPlatform({ databaseUrl, schema, name: `${who} ${number}` });
  await start(app({ of, projector }), { platform });
}

await Promise.all(Array.from({ length: platforms }, (_, number) => serve(number)));
process.send({ ready: true });
