// P-01 P-14 P-43: case activations while workers, the API and PostgreSQL are killed with SIGKILL in turn. Afterwards each has
// ended in a consistent state, each step's effect once. `npm run crash:cases` runs a thousand; a small run is a test.
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { freePort, installed } from "../../lib/src/testing/debian.fixture.ts";
import { makeRandom } from "../fault/random.ts";
import { breaches, tally, unfinished } from "./invariants.ts";
import { People } from "./people.ts";
import { openPost } from "./post.ts";
import {
  embedded,
  example,
  keepRunning,
  onDatabase,
  postgres15,
  replayDead,
  type Server,
} from "./processes.ts";

const { env } = process;
const casesMax = Number(env.TUNTAS_CASES ?? 20);
const killsMax = Number(env.TUNTAS_KILLS ?? 8);
const workersMax = Number(env.TUNTAS_WORKERS ?? 2);
const pauseMs = Number(env.TUNTAS_KILL_PAUSE_MS ?? 1200);
const seed = Number(env.TUNTAS_SEED ?? 1);
const clerksMax = 8;
/** So long nothing may come to an end: how fast cases are is the machine's affair, and that of whoever else is on it. */
const patienceMs = 180_000;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function openCases(people: People): Promise<void> {
  let next = 0;
  const clerk = async () => {
    while (next < casesMax) await people.open(next++);
  };
  await Promise.all(Array.from({ length: clerksMax }, clerk));
}

/**
 * Looks until nothing is left to do, or nothing more of it is done. A message whose worker was killed five times is a dead
 * letter; an operator replays those, as the runbook says.
 */
async function comeToRest(url: string): Promise<{ left: number; replayed: number }> {
  let replayed = 0;
  let least = Infinity;
  for (let end = Infinity; ; await pause(300)) {
    replayed += await onDatabase(url, (client) => replayDead(client, url));
    const left = await onDatabase(url, unfinished);
    if (left < least) end = Date.now() + patienceMs;
    least = Math.min(left, least);
    if (left === 0 || Date.now() > end) return { left, replayed };
  }
}

async function run(server: Server) {
  const port = await freePort();
  const apiUrl = `http://127.0.0.1:${port}`;
  const post = await openPost(apiUrl);
  const own = {
    ...env,
    DATABASE_URL: server.url,
    NOTICE_URL: post.url,
    PORT: String(port),
    TUNTAS_LOG_LEVEL: "silent",
    NODE_OPTIONS: "",
  };
  const api = keepRunning({ file: example("api.js"), env: own });
  const workers = Array.from({ length: workersMax }, () =>
    keepRunning({ file: example("worker.js"), env: own }),
  );
  const people = new People(apiUrl, randomUUID().slice(0, 8));
  const random = makeRandom(seed);
  const kills = { worker: 0, api: 0, postgres: 0 };

  async function killSomething(): Promise<void> {
    const dice = random.fraction();
    if (dice < 0.6) {
      kills.worker++;
      random.pick(workers).kill();
    } else if (dice < 0.85) {
      kills.api++;
      api.kill();
    } else {
      kills.postgres++;
      await server.kill();
    }
  }

  const begunAt = performance.now();
  const supervising = people.supervise();
  try {
    const opening = openCases(people);
    for (let n = 0; n < killsMax; n++) {
      await pause(pauseMs * (0.5 + random.fraction()));
      await killSomething();
    }
    await opening;
    const { left, replayed } = await comeToRest(server.url);
    await supervising.end();
    const seconds = Math.round((performance.now() - begunAt) / 100) / 10;
    const found = await onDatabase(server.url, breaches);
    const ends = await onDatabase(server.url, tally);
    const twice = [...post.posts].filter(([, times]) => times > 1).map(([key]) => key);
    const figures = { seed, cases: people.opened.size, kills, ends, letters: post.posts.size, seconds };
    const { asked: requests, unanswered } = people;
    const putOff = Object.fromEntries(people.putOff);
    return { left, found, twice, figures: { ...figures, replayed, requests, unanswered, putOff } };
  } finally {
    await supervising.end();
    for (const each of [api, ...workers]) each.stop();
    await post.close();
  }
}

/** Only to end what hangs. */
const timeout = 4 * 3_600_000;

async function check(server: Server): Promise<void> {
  await using own = server;
  const { left, found, twice, figures } = await run(own);
  console.log(JSON.stringify(figures));
  expect({ left, found, twice }).toEqual({ left: 0, found: [], twice: [] });
  expect(figures.cases).toBe(casesMax);
}

describe(`${casesMax} cases, ${killsMax} kills, ${workersMax} engines`, () => {
  test.skipIf(env.TUNTAS_POSTGRES === "15")("on the embedded PostgreSQL", { timeout }, async () =>
    check(await embedded()),
  );

  test.skipIf(!installed().postgres || env.TUNTAS_POSTGRES === "embedded")(
    "on PostgreSQL 15",
    { timeout },
    async () => check(await postgres15()),
  );
});
