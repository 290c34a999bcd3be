// P-43: orders, schedules and case activations while everything is killed, frozen and cut off in turn. Afterwards each accepted
// order has one effect, each due occurrence is there once, and every rule of the cases holds. A few faults are a test; `npm run chaos` strikes a thousand.
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { freePort } from "../../lib/src/testing/debian.fixture.ts";
import { embedded, onDatabase, postgres15, type Server } from "../cases/processes.ts";
import { makeRandom } from "../fault/random.ts";
import { openCases, type Cases } from "./cases.ts";
import { faults, pickFault, type Stage } from "./faults.ts";
import { openOrders, readEffects } from "./orders.ts";
import { fatesOf, groupBy, interruptions, longestTakeOvers, quantile, type Strike } from "./record.ts";
import { judgeSchedules, openOccurrences, openSchedules, readClock } from "./schedules.ts";

const { env } = process;
const minutes = Number(env.TUNTAS_CHAOS_MINUTES ?? 0.2);
const faultsMin = Number(env.TUNTAS_CHAOS_FAULTS ?? 10);
const workers = Number(env.TUNTAS_CHAOS_WORKERS ?? 2);
const seed = Number(env.TUNTAS_CHAOS_SEED ?? 1);
const kinds = env.TUNTAS_CHAOS_KINDS ?? "kill,network,session,postgres,supervisor";
/** The cases have a test of their own, so the small run leaves them out. */
const withCases = (env.TUNTAS_CHAOS_CASES ?? "no") !== "no";
const settleMsMax = 180_000;

const chosen = faults.filter(({ kind }) => kinds === "all" || kinds.split(",").includes(kind));
const msBetween = (minutes * 60_000) / faultsMin;

/** Strikes until both the time and the number are reached. */
async function strikeAll(stage: Stage): Promise<Strike[]> {
  const random = makeRandom(seed);
  const strikes: Strike[] = [];
  const begunMs = performance.now();
  const until = begunMs + minutes * 60_000;
  for (let n = 0; n < faultsMin || performance.now() < until; n++) {
    // Each has its instant, so that one that takes long to strike does not put off those after it.
    await pause(begunMs + (n + random.fraction()) * msBetween - performance.now());
    const fault = await pickFault(chosen, stage, random);
    strikes.push({ name: fault.name, atMs: performance.now() });
    await fault.strike(stage, random);
    if (n % 50 === 49) console.log(`${n + 1} faults, ${stage.orders.accepted.size} orders accepted`);
  }
  while (stage.lasting.size > 0) await Promise.all(stage.lasting);
  for (const { wire } of stage.orders.workers) wire.heal();
  return strikes;
}

const workLeft = `select ((select count(*) from tuntas.ready r join tuntas.queue q on q.id = r.queue_id where q.name like 'chaos%')
  + (select count(*) from tuntas.held f join tuntas.queue q on q.id = f.queue_id where q.name like 'chaos%')
  + (select count(*) from tuntas.delayed d join tuntas.queue q on q.id = d.queue_id where q.name like 'chaos%'))::int as n`;

const openWork = (url: string) => async (): Promise<number> =>
  onDatabase(url, async (client) => (await client.query(workLeft)).rows[0].n);

/** Waits until nothing is left, for as long as it becomes less; answers what is left. */
async function settle(countLeft: () => Promise<number>): Promise<number> {
  let [least, end] = [Infinity, Date.now() + settleMsMax];
  for (; ; await pause(200)) {
    const n = await countLeft();
    if (n < least) [least, end] = [n, Date.now() + settleMsMax];
    if (n === 0 || Date.now() > end) return n;
  }
}

const figuresOf = (waits: readonly number[]) => ({
  n: waits.length,
  median: quantile(waits, 0.5),
  p99: quantile(waits, 0.99),
  max: quantile(waits, 1),
});

async function judge({ server, orders, ends, outagesMs }: Stage, strikes: readonly Strike[]) {
  const { by, doubled } = await onDatabase(server.url, readEffects);
  const fates = fatesOf(orders.begun, ends, by);
  const takeOver = Object.fromEntries(
    interruptions(fates).map(({ kind, takeOversMs, ...counts }) => [
      kind,
      { ...counts, seconds: figuresOf(takeOversMs) },
    ]),
  );
  const outage = Object.fromEntries(
    [...outagesMs].map(([kind, waits]) => [kind, figuresOf(waits.toSorted((a, b) => a - b))]),
  );
  const lost = [...orders.accepted].filter((id) => !by.has(id));
  return {
    accepted: orders.accepted.size,
    unsure: orders.unsure(),
    effects: by.size,
    lost,
    doubled,
    takeOver,
    longest: longestTakeOvers(fates, strikes, { count: 5, beforeMs: 6000 }),
    outage,
  };
}

const living = "select pid from tuntas.process where expires_at > tuntas.now()";

/** Looks once in a while which processes have registered. */
function watchProcesses(url: string) {
  let pids: ReadonlySet<number> = new Set();
  const over = new AbortController();
  async function watch(): Promise<void> {
    while (!over.signal.aborted) {
      const rows = await onDatabase(
        url,
        async (client) => (await client.query(living)).rows as { pid: number }[],
      );
      pids = new Set(rows.map(({ pid }) => pid));
      await pause(500);
    }
  }
  const watching = watch();
  return {
    isUp: (pid: number) => pids.has(pid),
    async close() {
      over.abort();
      await watching;
    },
  };
}

async function run(server: Server) {
  const own = { ...env, TUNTAS_LOG_LEVEL: "silent", NODE_OPTIONS: "" };
  const orders = await openOrders(server.url, own, { port: await freePort(), workers });
  let cases: Cases | undefined;
  let processes: ReturnType<typeof watchProcesses> | undefined;
  try {
    await openSchedules(server.url, makeRandom(seed));
    cases = withCases ? await openCases(server.url, own) : undefined;
    while (orders.accepted.size < 20) await pause(50);
    processes = watchProcesses(server.url);
    const stage: Stage = {
      server,
      orders,
      casesApi: cases?.api,
      caseWorkers: cases?.workers ?? [],
      isUp: processes.isUp,
      ends: [],
      lasting: new Set(),
      outagesMs: new Map(),
    };
    const strikes = await strikeAll(stage);
    await orders.rest();
    const until = await readClock(server.url);
    const unfinished = {
      orders: await settle(openWork(server.url)),
      occurrences: await settle(() => openOccurrences(server.url, until)),
      cases: (await cases?.rest()) ?? 0,
    };
    const figures = await judge(stage, strikes);
    const schedules = await judgeSchedules(server.url, until);
    const amiss = [...schedules.amiss, ...((await cases?.amiss()) ?? [])];
    return {
      seed,
      faults: strikes.length,
      struck: Object.fromEntries(
        [...groupBy(strikes, ({ name }) => name)].map(([name, all]) => [name, all.length]),
      ),
      cases: cases?.opened() ?? 0,
      unfinished,
      ...figures,
      schedules: schedules.figures,
      amiss,
    };
  } finally {
    await processes?.close();
    await cases?.close();
    await orders.close();
  }
}

test(
  `${faultsMin} faults under load: nothing accepted is lost, nothing is done twice`,
  { timeout: minutes * 60_000 * 3 + 600_000, retry: 0 },
  async () => {
    await using server = await (env.TUNTAS_CHAOS_POSTGRES === "15" ? postgres15() : embedded());
    const { lost, doubled, unfinished, amiss, ...figures } = await run(server);
    console.log(
      JSON.stringify({ ...figures, lost: lost.length, doubled: doubled.length, unfinished }, null, 2),
    );
    expect({ lost, doubled, unfinished, amiss }).toEqual({
      lost: [],
      doubled: [],
      unfinished: { orders: 0, occurrences: 0, cases: 0 },
      amiss: [],
    });
    const { due, late } = figures.schedules;
    expect({ due, late }).toEqual({
      due: expect.toSatisfy((n) => n > 24),
      late: expect.toSatisfy((n) => n > 0),
    });
    expect(figures.faults).toBeGreaterThanOrEqual(faultsMin);
  },
);
