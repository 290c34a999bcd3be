import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { testPlatform } from "../../testing/index.ts";
import { addAll, readStatus } from "../client.ts";

const fixture = fileURLToPath(new URL("relay.fixture.mjs", import.meta.url));
const rows = 600;
const keys = 10;

async function relayProcess(...args: string[]): Promise<ChildProcess> {
  const child = spawn(process.execPath, [fixture, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, TUNTAS_LOG_LEVEL: "silent" },
  });
  await once(child.stdout!, "data");
  return child;
}

test("G-11 G-12 R-11 relays that are killed in the middle lose nothing, and every key keeps its order", async () => {
  await using kit = await testPlatform();
  const { database } = kit.platform;
  const query = (text: string) => database.transaction(async (tx) => (await tx.client.query(text)).rows);
  await query(`create table ${kit.schema}.got (at bigint generated always as identity, key text, n integer)`);
  const children = await Promise.all([1, 2, 3].map(() => relayProcess(kit.databaseUrl, kit.schema)));
  const target = { kind: "function", name: "table" };
  for (let from = 0; from < rows; from += 100) {
    const some = Array.from({ length: 100 }, (_, index) => ({
      target,
      key: `k${index % keys}`,
      payload: String(from + index),
    }));
    await database.transaction((tx) => addAll(tx, some));
  }
  const count = async () =>
    (await query(`select count(distinct n)::int as n from ${kit.schema}.got`))[0].n as number;
  for (const [victim, after] of [
    [0, 50],
    [1, 250],
  ] as const) {
    while ((await count()) < after) await sleep(10);
    children[victim]!.kill("SIGKILL");
  }
  const waiting = async () =>
    (await readStatus(database)).targets.reduce((sum, each) => sum + each.waiting, 0);
  for (let tries = 0; (await waiting()) > 0 && tries < 2000; tries++) await sleep(20);
  children[2]!.kill("SIGKILL");
  await once(children[2]!, "close");
  expect(await count()).toBe(rows);
  // A row may come again after a death, but never before one of its key that it follows has come at all.
  const disorder = await query(
    `select * from (select key, n, min(at) as first, lag(min(at)) over (partition by key order by n) as before from ${kit.schema}.got group by key, n) f where before > first`,
  );
  expect(disorder).toEqual([]);
});
