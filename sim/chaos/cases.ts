// Case activations beside the orders, by the people and the post of `../cases`, until they are told to stop.
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { freePort } from "../../lib/src/testing/debian.fixture.ts";
import { breaches, unfinished } from "../cases/invariants.ts";
import { People } from "../cases/people.ts";
import { openPost } from "../cases/post.ts";
import { example, keepRunning, onDatabase, replayDead } from "../cases/processes.ts";

const clerks = 2;
const betweenMs = 400;
const restMsMax = 300_000;

export async function openCases(url: string, env: NodeJS.ProcessEnv) {
  const port = await freePort();
  const post = await openPost(`http://127.0.0.1:${port}`);
  const own = { ...env, DATABASE_URL: url, NOTICE_URL: post.url, PORT: String(port) };
  const api = keepRunning({ file: example("api.js"), env: own });
  const workers = [1, 2].map(() => keepRunning({ file: example("worker.js"), env: own }));
  const people = new People(`http://127.0.0.1:${port}`, randomUUID().slice(0, 8));
  const supervising = people.supervise();
  let [next, over] = [0, false];
  const clerk = async () => {
    while (!over) {
      await people.open(next++);
      await pause(betweenMs);
    }
  };
  const opening = Promise.all(Array.from({ length: clerks }, clerk));

  return {
    api,
    workers,
    opened: () => people.opened.size,
    /** Opens no more, and answers how many have not come to an end. */
    async rest(): Promise<number> {
      over = true;
      await opening;
      for (const end = Date.now() + restMsMax; ; await pause(300)) {
        await onDatabase(url, (client) => replayDead(client, url));
        const left = await onDatabase(url, unfinished);
        if (left === 0 || Date.now() > end) return left;
      }
    },
    /** What is amiss at the end. */
    async amiss(): Promise<string[]> {
      const twice = [...post.posts].filter(([, times]) => times > 1).map(([key]) => `posted twice: ${key}`);
      return [...(await onDatabase(url, breaches)), ...twice];
    },
    async close() {
      over = true;
      await supervising.end();
      for (const each of [api, ...workers]) each.stop();
      await post.close();
    },
  };
}

export type Cases = Awaited<ReturnType<typeof openCases>>;
