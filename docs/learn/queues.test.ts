// The lesson on queues, as a newcomer follows it.
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { blocksOf } from "../recipes/kitchen.fixture.ts";
import { openLesson, type Lesson } from "./lesson.fixture.ts";

const blocks = (language: string): string[] => blocksOf(new URL("queues.md", import.meta.url), language);
const [, check, run, twice, killed, useless, breaking, mending] = blocks("sh");

let lesson: Lesson;
beforeAll(async () => {
  lesson = await openLesson();
  writeFileSync(join(lesson.folder, "app.mjs"), blocks("js")[0]!);
  mkdirSync(join(lesson.folder, "runbooks"));
  writeFileSync(join(lesson.folder, "runbooks", "purchases.md"), blocks("md")[0]!);
});
afterAll(() => {
  vi.unstubAllEnvs();
  return lesson.close();
});

const count = async (text: string): Promise<number> =>
  (await lesson.client.query(text).catch(() => ({ rows: [{ n: 0 }] }))).rows[0].n;
const awards = async () =>
  (
    await lesson.client.query(
      "select purchase, count(*)::int as times, max(points) as points from award group by purchase order by purchase",
    )
  ).rows;
const left = () =>
  count(
    "select ((select count(*) from tuntas.ready) + (select count(*) from tuntas.in_flight) + (select count(*) from tuntas.delayed))::int as n",
  );
const dead = async () => JSON.parse(await lesson.shell("npx tuntas dlq list --json || true"));
const soon = { interval: 100 };

describe("docs/learn/queues.md", () => {
  test("it runs, survives a kill, refuses, parks and is put back", { timeout: 400_000 }, async () => {
    expect(await lesson.shell(check!)).toContain("all in order");
    let developing = await lesson.develop(run!);
    try {
      expect(await lesson.shell(twice!)).toMatch(/created[\s\S]*created[\s\S]*purchases/);
      await expect.poll(left, soon).toBe(0);
      expect(await awards()).toEqual([{ purchase: "p1", times: 1, points: 40 }]);

      await lesson.shell(killed!);
      const began = "select count(*)::int as n from tuntas.in_flight";
      await expect.poll(() => count(began), { ...soon, interval: 20 }).toBe(1);
      developing.kill("SIGKILL");
      await once(developing, "exit");
      expect(await awards()).toHaveLength(1);
      developing = await lesson.develop(run!);
      await expect.poll(async () => (await awards()).length, soon).toBe(2);

      await lesson.shell(useless!);
      await lesson.shell(breaking!);
      // The tries take seconds, and each look a process.
      await expect.poll(async () => (await dead()).length, { interval: 2000 }).toBe(2);
      expect(await count("select count(*)::int as n from tuntas.rejection")).toBe(1);
      await lesson.shell(mending!);
      await expect.poll(left, soon).toBe(0);
      expect(await awards()).toEqual([
        { purchase: "killed", times: 1, points: 400 },
        { purchase: "p1", times: 1, points: 40 },
        { purchase: "p3", times: 1, points: 7 },
      ]);
      expect(await dead()).toEqual([]);
    } finally {
      developing.kill("SIGKILL");
    }
  });

  test("a message commits with what it is about, or not at all", async () => {
    await lesson.client.query("create table purchase (id text primary key, amount int)");
    const path = join(lesson.folder, "buy.mjs");
    const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext };
    writeFileSync(path, ts.transpileModule(blocks("ts")[0]!, { compilerOptions }).outputText);
    vi.stubEnv("DATABASE_URL", lesson.url);
    const { buy, open, close } = await import(/* @vite-ignore */ pathToFileURL(path).href);
    await using _running = await open();
    const purchase = { purchaseId: "p4", customerId: "ann", amount: 9 };
    expect(await buy(purchase)).toMatchObject({ status: "created" });
    await expect(buy(purchase)).rejects.toThrow(/duplicate key/);
    const { rows } = await lesson.client.query("select body from tuntas.message where body like '%p4%'");
    expect(rows.map(({ body }) => JSON.parse(body))).toEqual([purchase]);
    await close();
  });
});
