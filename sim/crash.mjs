// The crash test: orders under load while workers, the gateway and PostgreSQL are killed with SIGKILL in turn.
// Afterwards every accepted order must have exactly one effect. Prints the figures; exit 1 if one is wrong.
//
//   node sim/crash.mjs [--kills 200] [--workers 3] [--seed 1] [--pause 300]
import { fork, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { attachEmbedded } from "../lib/dist/pg/embedded/index.js";

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "200" },
    workers: { type: "string", default: "3" },
    seed: { type: "string", default: String(Date.now() % 100_000) },
    pause: { type: "string", default: "300" },
  },
});
const [kills, workerCount, seed, pauseMs] = [values.kills, values.workers, values.seed, values.pause].map(
  Number,
);

const here = fileURLToPath(new URL(".", import.meta.url));
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const quantile = (sorted, q) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))];

/** A small seeded generator, so that a failing run can be repeated. */
function makeRandom(state) {
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

// ---- the world

function makeDataDir() {
  const dir = mkdtempSync(join("/var/tmp", "tuntas-crash-"));
  chmodSync(dir, 0o755);
  return dir;
}

/** The postmaster's process id, by way of the parent of one of its children. */
async function findPostmaster(client) {
  const { rows } = await client.query("select pid from pg_stat_activity where backend_type = 'checkpointer'");
  const status = readFileSync(`/proc/${rows[0].pid}/status`, "utf8");
  return Number(/^PPid:\s+(\d+)/m.exec(status)[1]);
}

async function connect(url) {
  for (let attempt = 1; ; attempt++) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000 });
    client.on("error", () => undefined);
    try {
      await client.connect();
      return client;
    } catch (cause) {
      await client.end().catch(() => undefined);
      if (attempt > 100) throw cause;
      await pause(100);
    }
  }
}

/** Runs `work` on a fresh connection, again while the server is down. */
async function onDatabase(url, work) {
  for (let attempt = 1; ; attempt++) {
    const client = await connect(url);
    try {
      return await work(client);
    } catch (cause) {
      if (attempt > 50) throw cause;
      await pause(100);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}

// ---- workers, and what a kill interrupts

const interrupted = new Map();
const takeOversMs = [];

function noteBegun(slot, id) {
  const killedAt = interrupted.get(id);
  if (killedAt !== undefined) {
    takeOversMs.push(performance.now() - killedAt);
    interrupted.delete(id);
  }
  slot.running.add(id);
}

function startWorker(slot, env) {
  slot.running = new Set();
  slot.process = fork(join(here, "crash-worker.mjs"), { env, stdio: ["ignore", "ignore", "ignore", "ipc"] });
  const own = slot.process;
  own.on("message", (message) => {
    if (slot.process === own && message.begun) noteBegun(slot, message.begun);
  });
  // One that could not start (the database was down for too long) is started again, as an orchestrator would.
  own.on(
    "exit",
    (code) =>
      code !== null &&
      code !== 0 &&
      slot.process === own &&
      setTimeout(() => void startWorker(slot, env), 500),
  );
  return new Promise((resolve) => own.on("message", (message) => message.ready && resolve()));
}

async function killWorker(slot, env, url) {
  const at = performance.now();
  slot.process.kill("SIGKILL");
  const running = [...slot.running];
  for (const id of running) interrupted.set(id, at);
  // What had its effect already is not waited for; the rest must be begun again by somebody else.
  await onDatabase(url, async (client) => {
    const { rows } = await client.query("select id from crash.effect where id = any($1)", [running]);
    for (const { id } of rows) interrupted.delete(id);
  });
  void startWorker(slot, env);
}

// ---- the gateway, and the load through it

const gateway = { process: undefined };

function startGateway(env, port) {
  const child = spawn(process.execPath, [join(here, "crash-gateway.mjs")], {
    env: { ...env, TUNTAS_PORT: String(port) },
    stdio: ["ignore", "ignore", "ignore"],
  });
  gateway.process = child;
  // As with a worker: one that met a dead database at its start is started again.
  child.on(
    "exit",
    (code) => code !== null && gateway.process === child && setTimeout(() => startGateway(env, port), 500),
  );
}

async function call(port, operation, body) {
  const response = await fetch(`http://127.0.0.1:${port}/`, {
    method: "POST",
    headers: { "content-type": "application/x-amz-json-1.0", "x-amz-target": `AmazonSQS.${operation}` },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(10_000),
  });
  if (!response.ok) throw new Error(`${operation}: ${response.status}`);
  return response.json();
}

function startLoad(port, accepted, state) {
  const client = async () => {
    while (!state.over) {
      const id = randomUUID();
      try {
        await call(port, "SendMessage", {
          QueueUrl: `http://127.0.0.1:${port}/000000000000/crash-work`,
          MessageBody: JSON.stringify({ id }),
        });
        accepted.add(id);
      } catch {
        // Refused, or its answer was lost: such an order may have an effect, but at most one.
        state.unsure++;
        await pause(50);
      }
      await pause(10);
    }
  };
  return Promise.all(Array.from({ length: 16 }, client));
}

// ---- the run

async function settle(url) {
  const until = Date.now() + 120_000;
  for (;;) {
    const left = await onDatabase(url, async (client) => {
      const { rows } = await client.query(
        "select (select count(*) from tuntas.ready) + (select count(*) from tuntas.delayed) + (select count(*) from tuntas.in_flight) as left",
      );
      return Number(rows[0].left);
    });
    if (left === 0) return 0;
    if (Date.now() > until) return left;
    await pause(200);
  }
}

async function count(url, accepted) {
  return onDatabase(url, async (client) => {
    const { rows } = await client.query("select id, count(*)::int as times from crash.effect group by id");
    const times = new Map(rows.map((row) => [row.id, row.times]));
    return {
      effects: times.size,
      doubled: [...times.values()].filter((each) => each > 1).length,
      lost: [...accepted].filter((id) => !times.has(id)).length,
    };
  });
}

const dataDir = makeDataDir();
const server = await attachEmbedded({ dataDir });
const env = { ...process.env, DATABASE_URL: server.url, TUNTAS_LOG_LEVEL: "silent" };
const port = 20_000 + (process.pid % 20_000);
const random = makeRandom(seed);
const state = { over: false, unsure: 0 };
const accepted = new Set();
const done = { worker: 0, gateway: 0, postgres: 0 };

await onDatabase(server.url, (client) =>
  client.query("create schema crash; create table crash.effect (id text not null, worker integer not null)"),
);
const slots = Array.from({ length: workerCount }, () => ({ process: undefined, running: new Set() }));
await Promise.all(slots.map((slot) => startWorker(slot, env)));
startGateway(env, port);
const load = startLoad(port, accepted, state);
while (accepted.size < 20) await pause(50);

for (let n = 0; n < kills; n++) {
  await pause(pauseMs * (0.5 + random()));
  const dice = random();
  if (dice < 0.75) {
    done.worker++;
    await killWorker(slots[Math.floor(random() * slots.length)], env, server.url);
  } else if (dice < 0.9) {
    done.gateway++;
    gateway.process.kill("SIGKILL");
    startGateway(env, port);
  } else {
    done.postgres++;
    await onDatabase(server.url, async (client) =>
      process.kill(await findPostmaster(client), random() < 0.5 ? "SIGKILL" : "SIGQUIT"),
    );
  }
}

state.over = true;
await load;
const left = await settle(server.url);
const result = await count(server.url, accepted);
for (const slot of slots) {
  const last = slot.process;
  slot.process = undefined;
  last.kill("SIGKILL");
}
gateway.process.kill("SIGKILL");
await server.detach();
rmSync(dataDir, { recursive: true, force: true });

takeOversMs.sort((a, b) => a - b);
const seconds = (ms) => (ms === undefined ? null : Math.round(ms) / 1000);
const figures = {
  seed,
  kills: done,
  accepted: accepted.size,
  unsure: state.unsure,
  ...result,
  left,
  interrupted: takeOversMs.length + interrupted.size,
  neverBegunAgain: interrupted.size,
  takeOverSeconds: {
    median: seconds(quantile(takeOversMs, 0.5)),
    p95: seconds(quantile(takeOversMs, 0.95)),
    max: seconds(takeOversMs.at(-1)),
  },
};
console.log(JSON.stringify(figures, null, 2));
process.exit(result.doubled === 0 && result.lost === 0 && left === 0 ? 0 : 1);
