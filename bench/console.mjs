// What a console that somebody watches costs the database while 1,000 messages a second are sent and done: the CPU time of
// PostgreSQL's processes a message, in turns with the page open and closed. `node bench/console.mjs --rate N --rounds N --seconds N`
import { chmodSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { app, makeLog, openPlatform, queue, start, worker } from "tuntas";
import { consolePages } from "tuntas/console";
import { startGateway } from "tuntas/gateway";

const { values } = parseArgs({
  options: {
    rate: { type: "string", default: "1000" },
    rounds: { type: "string", default: "4" },
    seconds: { type: "string", default: "15" },
  },
});
const [rate, rounds, seconds] = [values.rate, values.rounds, values.seconds].map(Number);
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** What the pages of a queue and of home ask every two seconds. */
const reads = [
  "home",
  "queues",
  "queue?queue=bench",
  "queue.pace?queue=bench",
  "queue.series?queue=bench&minutes=60",
  "queue.signs?queue=bench",
  "queue.messages?queue=bench&state=ready",
  "processes",
];

const statOf = (pid) => {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
  } catch {
    return undefined;
  }
};

/** CPU seconds of the postmaster's children, those that have ended included. */
function cpuOf(postmaster) {
  const own = statOf(postmaster);
  const ticks = (stat, fields) => fields.reduce((sum, field) => sum + Number(stat[field]), 0);
  const children = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(statOf)
    .filter((stat) => stat?.[1] === String(postmaster));
  return (
    (ticks(own, [11, 12, 13, 14]) + children.reduce((sum, stat) => sum + ticks(stat, [11, 12]), 0)) / 100
  );
}

const any = { "~standard": { version: 1, vendor: "bench", validate: (value) => ({ value }) } };
const work = queue("bench", {
  message: any,
  deadLetter: { after: 3, owner: "bench", runbook: "none", retention: "1d" },
});
let done = 0;
const doer = worker(work, {
  idempotencyKey: "none",
  timeout: "20s",
  concurrency: 64,
  handle: () => void done++,
});

process.env.TUNTAS_LOG_LEVEL = "error";
const dataDir = mkdtempSync(join(tmpdir(), "tuntas-console-"));
chmodSync(dataDir, 0o755);
const platform = await openPlatform({ dataDir, log: makeLog() });
const running = await start(app({ work, doer }), { platform });
const gateway = await startGateway({ platform, port: 0, pages: consolePages({ platform }) });
const postmaster = Number(readFileSync(join(dataDir, "cluster", "postmaster.pid"), "utf8").split("\n", 1)[0]);

let watching = false;
let stopped = false;
const api = `http://127.0.0.1:${gateway.port}/console/api/`;
const watch = (async () => {
  while (!stopped) {
    if (watching) await Promise.all(reads.map(async (read) => (await fetch(api + read)).text()));
    await pause(watching ? 2000 : 50);
  }
})();

/** Sends so many a second for a while; answers CPU seconds of the database a second. */
async function turn({ perSecond, isWatched }) {
  watching = isWatched;
  const [cpuBefore, doneBefore, begun] = [cpuOf(postmaster), done, performance.now()];
  let sent = 0;
  while (performance.now() - begun < seconds * 1000) {
    const wanted = Math.floor(((performance.now() - begun) / 1000) * perSecond);
    const sends = Array.from({ length: Math.max(0, wanted - sent) }, () => work.send({ n: sent++ }));
    await Promise.all([...sends, pause(10)]);
  }
  while (done - doneBefore < sent) await pause(20);
  const tookSeconds = (performance.now() - begun) / 1000;
  return { perSecond: sent / tookSeconds, cpu: (cpuOf(postmaster) - cpuBefore) / tookSeconds };
}

const mean = (list, of) => list.reduce((sum, each) => sum + of(each), 0) / list.length;
const turns = { idle: [], idleOpen: [], busy: [], busyOpen: [] };
await turn({ perSecond: rate, isWatched: false }); // warm
for (let round = 0; round < rounds; round++) {
  turns.busy.push(await turn({ perSecond: rate, isWatched: false }));
  turns.busyOpen.push(await turn({ perSecond: rate, isWatched: true }));
  turns.idle.push(await turn({ perSecond: 0, isWatched: false }));
  turns.idleOpen.push(await turn({ perSecond: 0, isWatched: true }));
}
const cpu = Object.fromEntries(
  Object.entries(turns).map(([name, all]) => [name, mean(all, (each) => each.cpu)]),
);
const console_ = Math.max(0, cpu.idleOpen - cpu.idle);
console.log(
  JSON.stringify({
    perSecond: Math.round(mean(turns.busyOpen, (each) => each.perSecond)),
    cpuPerSecond: Object.fromEntries(
      Object.entries(cpu).map(([name, each]) => [name, Number(each.toFixed(4))]),
    ),
    // What the page adds where nothing else runs, of what the database does with both: sharper than the difference of two
    // busy turns, which messages make noisy.
    shareOfTheConsole: Number((console_ / (console_ + cpu.busy)).toFixed(4)),
    shareByDifference: Number((1 - cpu.busy / cpu.busyOpen).toFixed(4)),
    load: loadavg().map((each) => Number(each.toFixed(1))),
  }),
);
stopped = true;
await watch;
await gateway.close();
await running.stop();
await platform.close();
rmSync(dataDir, { recursive: true, force: true, maxRetries: 20 });
