// A rolling deployment under load: an older version's gateway and workers are replaced by this version's, one after another, each with
// SIGKILL. The first new process changes the schema under those that run. Nothing may be lost, done twice or refused meanwhile.
//
//   npm run upgrade -- --from REF [--workers 3] [--seconds 10]
//
// REF is any commit of this repository. For --seconds the old ones run alone, each replacement takes that long, then the new ones run alone.
import { execFileSync, fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import pg from "pg";
import { withDatabase } from "../bench/parts/server.mjs";

const { values } = parseArgs({
  options: {
    from: { type: "string" },
    workers: { type: "string", default: "3" },
    seconds: { type: "string", default: "10" },
  },
});
if (!values.from) throw new Error("expected --from REF, the version that is replaced");
const stageMs = Number(values.seconds) * 1000;
const here = dirname(dirname(fileURLToPath(import.meta.url)));
const clients = 8;

/** A checkout of that version, built. */
function checkOut(ref) {
  const folder = join(mkdtempSync(join(tmpdir(), "tuntas-upgrade-")), "old");
  const run = (command, ...args) => execFileSync(command, args, { cwd: folder, stdio: "ignore" });
  execFileSync("git", ["worktree", "add", "--detach", folder, ref], { cwd: here, stdio: "ignore" });
  run("npm", "ci");
  run(process.execPath, "scripts/ready.mjs");
  return folder;
}

function removeCheckOut(folder) {
  execFileSync("git", ["worktree", "remove", "--force", folder], { cwd: here });
  rmSync(dirname(folder), { recursive: true, force: true });
}

async function begin(folder, program, env) {
  const file = join(folder, "sim/chaos", program);
  const child = fork(file, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const gone = once(child, "exit");
  return {
    gone,
    kill: () => {
      child.kill("SIGKILL");
      return gone;
    },
  };
}

async function untilAnswers(port) {
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}/_tuntas/health`).catch(() => undefined);
    if (answer?.ok) return;
    await pause(100);
  }
}

const send = (port, id) =>
  fetch(`http://127.0.0.1:${port}/`, {
    method: "POST",
    headers: { "content-type": "application/x-amz-json-1.0", "x-amz-target": "AmazonSQS.SendMessage" },
    body: JSON.stringify({
      QueueUrl: `http://127.0.0.1:${port}/000000000000/chaos-work`,
      MessageBody: JSON.stringify({ id }),
    }),
  });

/** Clients that send to whichever gateways there are at the time. */
function load(ports) {
  const [accepted, refusals] = [new Set(), new Map()];
  let over = false;
  async function client(number) {
    for (let turn = number; !over; turn++) {
      const [id, port] = [randomUUID(), ports[turn % ports.length]];
      const answer = await send(port, id).catch((cause) => ({ ok: false, status: cause.cause?.code }));
      if (answer.ok) accepted.add(id);
      else refusals.set(answer.status, (refusals.get(answer.status) ?? 0) + 1);
      await pause(10);
    }
  }
  const done = Promise.all(Array.from({ length: clients }, (_, number) => client(number)));
  return { accepted, refusals, rest: () => ((over = true), done) };
}

async function effectsOf(client) {
  const { rows } = await client.query("select id, count(*)::int as n from chaos.effect group by id");
  return new Map(rows.map(({ id, n }) => [id, n]));
}

async function rollOver(old, DATABASE_URL, client) {
  const ports = [14_566];
  const oldGateway = await begin(old, "order-gateway.mjs", { DATABASE_URL, TUNTAS_PORT: "14566" });
  const workers = [];
  for (let n = 0; n < Number(values.workers); n++)
    workers.push(await begin(old, "order-worker.mjs", { DATABASE_URL }));
  await untilAnswers(14_566);
  while ((await send(14_566, "probe")).status !== 200) await pause(200); // until a worker has made the queue
  const sending = load(ports);
  await pause(stageMs);
  const newGateway = await begin(here, "order-gateway.mjs", { DATABASE_URL, TUNTAS_PORT: "24566" });
  await untilAnswers(24_566);
  ports.push(24_566);
  for (const [index, worker] of workers.entries()) {
    await pause(stageMs);
    workers[index] = await begin(here, "order-worker.mjs", { DATABASE_URL });
    await worker.kill();
  }
  ports.shift();
  await pause(1000); // what was on its way to the old one has its answer
  await oldGateway.kill();
  await pause(stageMs);
  await sending.rest();
  const end = performance.now() + 120_000;
  let effects = await effectsOf(client);
  while ([...sending.accepted].some((id) => !effects.has(id)) && performance.now() < end) {
    await pause(500);
    effects = await effectsOf(client);
  }
  await Promise.all([newGateway, ...workers].map(({ kill }) => kill()));
  return { ...sending, effects };
}

const report = ({ accepted, refusals, effects }) => ({
  from: values.from,
  accepted: accepted.size,
  refused: Object.fromEntries(refusals),
  lost: [...accepted].filter((id) => !effects.has(id)).length,
  doubled: [...effects.values()].filter((n) => n > 1).length,
});

async function main(DATABASE_URL) {
  const old = checkOut(values.from);
  const client = new pg.Client({ connectionString: DATABASE_URL });
  await client.connect();
  try {
    await client.query(
      "create schema chaos; create table chaos.effect (id text not null, worker integer not null)",
    );
    const figures = report(await rollOver(old, DATABASE_URL, client));
    console.log(JSON.stringify(figures, null, 2));
    const isWell = figures.lost + figures.doubled === 0 && Object.keys(figures.refused).length === 0;
    process.exitCode = isWell ? 0 : 1;
  } finally {
    await client.end();
    removeCheckOut(old);
  }
}

await withDatabase(main);
