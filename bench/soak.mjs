// A long run at a steady rate, while for half of the time one session holds a transaction open and another a snapshot: neither
// may slow the queue down, and no table may grow for ever. Prints a line a minute and, at the end, what became of the rate.
//
//   npm run soak -- [--minutes 60] [--rate 2000] [--held 0.5]
import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import pg from "pg";
import { app, start } from "../lib/dist/index.js";
import { cpuSecondsOf, handlesOf, load, memoryMbOf, serverCpuSeconds } from "./parts/machine.mjs";
import { makeQueue, quiet } from "./parts/queue.mjs";
import { openServer } from "./parts/server.mjs";

const option = (value) => ({ type: "string", default: value });
const { values } = parseArgs({
  options: { minutes: option("60"), rate: option("2000"), held: option("0.5") },
});
const [minutes, rate, held] = [values.minutes, values.rate, values.held].map(Number);
const heldFrom = Math.max(2, Math.floor((minutes * (1 - held)) / 2));
const heldUntil = heldFrom + Math.round(minutes * held);

const server = await openServer();
const bench = makeQueue("bench");
const running = await start(app({ bench }), { databaseUrl: server.url, workers: false, log: quiet });
const drainer = fork(fileURLToPath(new URL("./parts/drainer.mjs", import.meta.url)), {
  env: { ...process.env, DATABASE_URL: server.url, TUNTAS_LOG_LEVEL: "silent" },
});
await once(drainer, "message");

/** Sends as many as are due, every few milliseconds; what cannot be kept up with is not made up for, and what is refused is counted. */
const sending = { sent: 0, refused: 0, over: false };
async function send() {
  let last = performance.now();
  let due = 0;
  const underWay = new Set();
  while (!sending.over) {
    await pause(5);
    const now = performance.now();
    due = Math.min(rate, due + ((now - last) / 1000) * rate);
    last = now;
    for (; due >= 1 && underWay.size < 2000; due--) {
      const one = bench
        .send({ n: sending.sent++, t: Date.now(), text: "x".repeat(150) })
        .catch(() => sending.refused++)
        .finally(() => underWay.delete(one));
      underWay.add(one);
    }
  }
  await Promise.all(underWay);
}

async function askDrainer() {
  drainer.send("figures");
  const [figures] = await once(drainer, "message");
  return figures;
}

const sizes = `select c.relname as name, pg_total_relation_size(c.oid)::float8 / 1048576 as mb from pg_class c
  join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'tuntas' and c.relkind = 'r' order by 2 desc limit 4`;

/** A transaction that has written, and a reader in the middle of its report. */
async function hold() {
  const clients = [0, 1].map(() => new pg.Client({ connectionString: server.url }));
  for (const client of clients) await client.connect();
  const [writer, reader] = clients;
  await writer.query(
    "create table if not exists public.held (n integer); begin; insert into public.held values (1)",
  );
  await reader.query("begin isolation level repeatable read; select count(*) from tuntas.queue");
  return () => Promise.all(clients.map((client) => client.end()));
}

const snapshot = async () => ({
  atMs: performance.now(),
  handled: (await askDrainer()).handled,
  worker: cpuSecondsOf(drainer.pid),
  server: serverCpuSeconds(server.postmaster),
});

const quantile = (list, q) => list.toSorted((a, b) => a - b)[Math.floor(list.length * q)] ?? 0;
const rows = [];

async function minute(n, before, isHeld) {
  await pause(60_000 - (performance.now() - before.atMs));
  const { handled, waits } = await askDrainer();
  const [worker, ofServer] = [cpuSecondsOf(drainer.pid), serverCpuSeconds(server.postmaster)];
  const done = handled - before.handled;
  const tables = await server.ask(sizes);
  const row = {
    minute: n,
    held: isHeld ? "yes" : "",
    perSecond: Math.round(done / ((performance.now() - before.atMs) / 1000)),
    refused: sending.refused,
    waitMsP50: quantile(waits, 0.5),
    waitMsP99: quantile(waits, 0.99),
    workerUs: Math.round(((worker - before.worker) / done) * 1e6),
    serverUs: Math.round(((ofServer - before.server) / done) * 1e6),
    rssMb: Math.round(memoryMbOf(drainer.pid)),
    handles: handlesOf(drainer.pid),
    tables: tables.map(({ name, mb }) => `${name} ${mb.toFixed(1)}`).join(", "),
    load: load(),
  };
  sending.refused = 0;
  rows.push(row);
  console.log(
    Object.entries(row)
      .map(([key, value]) => `${key} ${value}`)
      .join("  "),
  );
  return { atMs: performance.now(), handled, worker, server: ofServer };
}

const sender = send();
await pause(5000);
let before = await snapshot();
let release;
for (let n = 1; n <= minutes; n++) {
  if (n === heldFrom) release = await hold();
  if (n === heldUntil) release = void (await release?.());
  before = await minute(n, before, release !== undefined);
}
await release?.();
sending.over = true;
await sender;
const [first] = rows;
const worst = rows.reduce((least, row) => (row.perSecond < least.perSecond ? row : least));
const dearest = rows.reduce((most, row) => (row.serverUs > most.serverUs ? row : most));
console.log(
  `first minute ${first.perSecond}/s, slowest ${worst.perSecond}/s (minute ${worst.minute}: ${(worst.perSecond / first.perSecond).toFixed(2)}); ` +
    `server CPU a message ${first.serverUs} us at first, ${dearest.serverUs} us at most (minute ${dearest.minute})`,
);
drainer.kill();
await running.stop();
await server.close();
process.exit(worst.perSecond >= first.perSecond * 0.9 ? 0 : 1);
