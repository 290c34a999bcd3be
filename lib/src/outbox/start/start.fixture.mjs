// One caller that starts a workflow by a pattern, and for pattern B the relay too. Arguments: step, url, schema,
// pattern, the command as JSON. The workflow service is a table of executions outside the caller's transactions.
import pg from "pg";
import { stepping } from "../../engine/stepwise.fixture.mjs";
import { makeBreaker } from "../../../dist/engine/outside/breaker.js";
import { deliverOut } from "../../../dist/outbox/relay/deliver.js";
import {
  recordStart,
  startByOutbox,
  startDirectly,
  startRecorded,
  workflowTarget,
} from "../../../dist/outbox/start/index.js";
import { claimRows, lockTarget } from "../../../dist/outbox/store.js";

const [step, url, schema, pattern, json] = process.argv.slice(2);
const command = JSON.parse(json);
const { at, open } = stepping(step);
const database = await open(url, schema);
const service = new pg.Client(url);
await service.connect();

async function starter({ key, payload }) {
  at("before the start");
  const { rows } = await service.query(
    `insert into ${schema}.started_execution (name, input) values ($1, $2) on conflict (name) do update set starts = started_execution.starts + 1 returning starts`,
    [key, payload],
  );
  at("after the start");
  return { status: rows[0].starts === 1 ? "created" : "duplicate", reference: `arn:${key}` };
}

const accept = (start) =>
  database.transaction(async (tx) => {
    await tx.client.query(`insert into ${schema}.domain (command_id) values ($1) on conflict do nothing`, [
      command.commandId,
    ]);
    at("after the change");
    return start(tx);
  });

async function relayOnce() {
  const target = { kind: "workflow", name: command.workflowName };
  const rows = await database.transaction(async (tx) => {
    await lockTarget(tx, target);
    return claimRows(tx, target, { owner: "0", rowsMax: 10, leaseMs: 60_000 });
  });
  const { deliver } = workflowTarget(database, starter);
  const policy = { refusalsMax: 3, backoff: { baseMs: 1, maxMs: 1 } };
  const outward = {
    database,
    target,
    deliver,
    breaker: makeBreaker(),
    policy,
    timeoutMs: 5000,
    concurrency: 1,
    ending: new AbortController().signal,
  };
  await deliverOut(outward, rows, 60_000);
}

if (pattern === "A") await startDirectly(starter, command);
if (pattern === "B") {
  await accept((tx) => startByOutbox(tx, command));
  await relayOnce();
}
if (pattern === "C") {
  await accept((tx) => recordStart(tx, command));
  await startRecorded(database, starter, command);
}
await service.end();
await database.close();
