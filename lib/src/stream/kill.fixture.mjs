// A process that serves a consumer until it has read its stream, killed at the step that it was told: a write, a commit, from
// the first record to the last. The first is a bad one, the second is written for in a transaction of the handler's, the others
// by statements that it hands over.
// Arguments: step, url, schema, the stream's name.
import pg from "pg";
import { subscribe } from "node:diagnostics_channel";
import { stepping, watchWrites } from "../engine/stepwise.fixture.mjs";
import { app, consumer, openPlatform, start, stream } from "../../dist/index.js";

const [step, databaseUrl, schema, name] = process.argv.slice(2);
const platform = await openPlatform({ databaseUrl, schema, name: "reader" });
const { at } = stepping(step);
let reads = false;
const atIfReads = (name, last) => reads && at(name, last);
watchWrites(pg.Client, atIfReads, ["stream_checkpoint", "effect", "handed"]);

const record = { "~standard": { version: 1, vendor: "fixture", validate: (value) => ({ value }) } };
const of = stream(name, {
  record,
  partitions: 1,
  key: "order id",
  retention: "1h",
  owner: "orders-team",
  runbook: "runbooks/streams.md",
});
const projector = consumer(of, {
  name: "projector",
  from: "start",
  batch: 3,
  onBadRecord: "park",
  retry: { attempts: 1 },
  timeout: "20s",
  lagWithin: "5m",
  async handle({ id, key, value }, context) {
    reads = true;
    if (value.n === 0) throw new Error("it does not fit");
    const into = (table) => `insert into ${schema}.${table} (stream, id, key, n) values ($1, $2, $3, $4)`;
    const values = [name, id, key, value.n];
    if (value.n === 1) await context.tx.query(into("effect"), values);
    else context.write(into("handed"), values);
  },
});
let past = 0;
const over = new Promise((resolve) => {
  for (const signal of ["handled", "parked"])
    subscribe(`tuntas.stream.${signal}`, ({ count = 1 }) => (past += count) >= 4 && resolve());
});
const running = await start(app({ of, projector }), { platform });
await over;
reads = false;
await running.stop();
await platform.close();
