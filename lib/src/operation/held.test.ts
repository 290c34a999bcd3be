// An operation is in one process's hands: of two that want it one gets it; whoever is frozen past his lease has lost it, and finds
// that out; and whoever lives keeps it, however long his work takes.
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ask } from "../queue/worker/worker.fixture.ts";
import type { Platform } from "../platform.ts";
import { testPlatform, type TestPlatform } from "../testing/index.ts";
import type { Hold, OperationKind } from "./contract.ts";

let kit: TestPlatform;
beforeAll(async () => {
  kit = await testPlatform({ name: "here" });
  await ask(kit.platform, "create table tuntas.effect (who text)");
});
afterAll(() => kit[Symbol.asyncDispose]());

const ada = { actor: "ada", reason: "it is due" };
const survey = async (selection: object) => ({ selection, count: 1, forbidden: [], sample: [] });
const page = async () => ({ items: [], end: true });
const effects = async () =>
  (await ask<{ who: string }>(kit.platform, "select who from tuntas.effect")).map(({ who }) => who);

const performing = (name: string, perform: (hold: Hold) => Promise<void>): OperationKind =>
  ({ name, survey, page, perform }) as unknown as OperationKind;

/** Writes its effect in the transaction that ends it. */
const endBy = (platform: Platform, who: string) => (hold: Hold) =>
  platform.database.transaction(async (tx) => {
    await tx.client.query(`insert into ${kit.schema}.effect (who) values ($1)`, [who]);
    const result = { item: "1", outcome: "done" } as const;
    if (!(await hold.end(tx, { state: "completed", failure: null, result }))) throw new Error("held no more");
  });

test("of two processes that want held operations each is in one's hands, and has its effect once", async () => {
  const others = [kit.platform, await kit.another({ name: "there" })];
  const together = new Map<string, number>();
  for (const platform of others)
    platform.operations.register(
      performing("raced", async (hold) => {
        together.set(hold.id, (together.get(hold.id) ?? 0) + 1);
        await endBy(platform, `raced ${hold.id}`)(hold);
      }),
    );
  const started = await Promise.all(
    Array.from({ length: 20 }, () => kit.platform.operations.start({ kind: "raced", selection: {}, ...ada })),
  );
  for (const { operation } of started)
    expect(await kit.platform.operations.settled(operation.id)).toMatchObject({
      state: "completed",
      done: 1,
    });
  const done = (await effects()).filter((who) => who.startsWith("raced"));
  expect(done.toSorted()).toEqual(started.map(({ operation }) => `raced ${operation.id}`).toSorted());
  expect([...together.values()]).toEqual(Array(20).fill(1));
});

test("frozen past his lease and going on, the first ends nothing: another has done it", async () => {
  const env = { ...process.env, DATABASE_URL: kit.databaseUrl, SCHEMA: kit.schema, KIND: "frozen" };
  const child = fork(fileURLToPath(new URL("frozen.fixture.mjs", import.meta.url)), { env });
  const heard: any[] = [];
  child.on("message", (message) => void heard.push(message));
  try {
    await expect.poll(() => heard.some(({ began }) => began !== undefined)).toBe(true);
    const [{ began }] = heard;
    child.kill("SIGSTOP");
    kit.platform.operations.register(performing("frozen", endBy(kit.platform, "here")));
    await kit.advance(40_000);
    expect(await kit.platform.operations.settled(began)).toMatchObject({ state: "completed", done: 1 });
    child.kill("SIGCONT");
    child.send("go on");
    await expect.poll(() => heard.find(({ ended }) => ended !== undefined)).toEqual({ ended: false });
    expect((await effects()).filter((who) => !who.startsWith("raced"))).toEqual(["here"]);
  } finally {
    child.kill("SIGKILL");
  }
});

test("whoever lives keeps it, though to look for what is selected and to do it outlast the lease", async () => {
  await using own = await testPlatform({ name: "here" });
  const there = await own.another({ name: "there" });
  const done: string[] = [];
  // In steps that leave every process some seconds of its 15 to say that it lives, each of which has said so before the next.
  const outlast = async () => {
    for (let step = 0; step < 6; step++) {
      await own.advance(6000);
      await expect.poll(() => areRenewed(own.platform)).toBe(true);
    }
  };
  const kindOf = (who: string): OperationKind => ({
    name: "slow",
    survey: survey as never,
    async page(_selection, after) {
      await outlast();
      return { items: after === null ? [{ item: "1", cursor: "1" }] : [], end: true };
    },
    async apply(_selection, { item }) {
      await outlast();
      done.push(who);
      return { item, outcome: "done" };
    },
  });
  own.platform.operations.register(kindOf("here"));
  there.operations.register(kindOf("there"));
  const { operation } = await own.platform.operations.start({ kind: "slow", selection: {}, ...ada });
  expect(await own.platform.operations.settled(operation.id)).toMatchObject({ state: "completed", done: 1 });
  expect(done).toHaveLength(1);
  const [{ fence }] = (await ask(own.platform, "select fence::int from tuntas.operation where id = $1", [
    operation.id,
  ])) as [any];
  expect(fence).toBe(1);
});

const areRenewed = async (platform: Platform): Promise<boolean> => {
  const [{ ok }] = (await ask<{ ok: boolean }>(
    platform,
    `select (select count(*) from tuntas.process where expires_at > tuntas.now() + interval '14 s') = 2
       and exists (select from tuntas.operation where state = 'running' and lease_until > tuntas.now() + interval '28 s') as ok`,
  )) as [{ ok: boolean }];
  return ok;
};
