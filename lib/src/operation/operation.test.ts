import { fork } from "node:child_process";
import { once } from "node:events";
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { app, start } from "../app.ts";
import type { Platform } from "../platform.ts";
import { defaultScope } from "../queue/contract.ts";
import { queue, worker } from "../queue/declaration.ts";
import { unknown } from "../core/outcome.ts";
import { statement } from "../pg/database.ts";
import { testPlatform, type TestPlatform } from "../testing/index.ts";
import type { OperationKind, OperationItem } from "./contract.ts";

let kit: TestPlatform;
let platform: Platform;
beforeAll(async () => {
  kit = await testPlatform();
  platform = kit.platform;
});
afterAll(() => kit[Symbol.asyncDispose]());

const ada = { actor: "ada", reason: "database is back" };
const grace = { actor: "grace", reason: "looked at it" };

/** A queue with so many dead letters, each failed with a code. */
async function deadLetters(codes: readonly string[]): Promise<{ name: string; sent: string[] }> {
  const name = `work-${randomUUID().slice(0, 8)}`;
  const of = queue(name, {
    message: z.object({ code: z.string() }),
    poison: "quarantine",
    deadLetter: {
      after: 1,
      owner: "tests",
      runbook: "none",
      retention: "14d",
      replayForbidden: { CLOSED: "the case is closed" },
    },
  });
  const work = worker(of, {
    idempotencyKey: "none",
    timeout: "20s",
    handle({ code }) {
      if (code === "UNSURE") return unknown({ code: "UNSURE", message: "no answer" });
      throw Object.assign(new Error("it failed"), { code });
    },
  });
  const running = await start(app({ of, work }), { platform });
  const sent: string[] = [];
  for (const code of codes) sent.push((await of.send({ code })).messageId);
  const count = async () =>
    (await platform.queues.deadLetters.groups(defaultScope, { queue: name })).reduce(
      (sum, { count: each }) => sum + each,
      0,
    );
  await expect.poll(count).toBe(codes.length);
  await running.stop();
  return { name, sent };
}

const depth = async (name: string) =>
  platform.queues.catalog.count(await platform.queues.catalog.get(defaultScope, name));

test("Q-16 Q-20 a replay: previewed without a change, begun with who and why, done item by item, on the record", async () => {
  const { name, sent } = await deadLetters(["DOWN", "DOWN", "CLOSED", "UNSURE"]);
  const selection = { filter: { queue: name } };
  const preview = await platform.operations.preview("replay", selection);
  expect(preview).toMatchObject({
    count: 2,
    forbidden: expect.arrayContaining([
      { rule: "the case is closed", count: 1 },
      { rule: expect.stringContaining("nobody has looked"), count: 1 },
    ]),
  });
  expect((await depth(name)).ready).toBe(0);

  const options = { kind: "replay", selection, ...ada, expected: 2 };
  await expect(platform.operations.start(options)).rejects.toMatchObject({
    code: "TUNTAS_OPERATION_FORBIDDEN",
  });
  const { status, operation } = await platform.operations.start({ ...options, skipForbidden: true });
  expect(status).toBe("created");
  expect(await platform.operations.settled(operation.id)).toMatchObject({
    state: "completed",
    done: 2,
    refused: 2,
    skipped: 0,
    ...ada,
  });
  const items = await platform.operations.items(operation.id);
  expect(items.map(({ item, outcome, reason }) => [item, outcome, reason])).toEqual([
    [sent[0], "done", null],
    [sent[1], "done", null],
    [sent[2], "refused", "the case is closed"],
    [sent[3], "refused", expect.stringContaining("nobody has looked")],
  ]);
  expect((await depth(name)).ready).toBe(2);
  const audit = await platform.database.run(
    statement("select actor, action, reason from tuntas.audit where subject = $1 order by id"),
    [`operation ${operation.id}`],
  );
  expect(audit).toEqual([
    { ...ada, action: "operation.start" },
    { ...ada, action: "operation.replay" },
    { ...ada, action: "operation.completed" },
  ]);
});

test("the same key is the same operation; with another request it is a conflict", async () => {
  const { name } = await deadLetters(["DOWN"]);
  const key = randomUUID();
  const options = { kind: "replay", selection: { filter: { queue: name } }, ...ada, key };
  const first = await platform.operations.start(options);
  await platform.operations.settled(first.operation.id);
  expect(await platform.operations.start(options)).toMatchObject({
    status: "duplicate",
    operation: { id: first.operation.id, done: 1 },
  });
  expect(await platform.operations.start({ ...options, kind: "reject" })).toMatchObject({
    status: "conflict",
  });
});

/** A kind of its own: things are numbers, and what was done is a table's rows. */
async function counter(
  all: number,
  isBroken = () => false,
): Promise<{ kind: OperationKind<object, OperationItem>; done: () => Promise<number[]> }> {
  const table = `tuntas.counted_${randomUUID().slice(0, 8)}`;
  await platform.database.transaction((tx) => tx.run(statement(`create table ${table} (n integer)`)));
  const put = statement(`insert into ${table} select unnest($1::int[])`);
  const read = statement(`select n from ${table} order by n`);
  const kind: OperationKind<object, OperationItem> = {
    name: `count-${table.slice(-8)}`,
    survey: async (selection) => ({ selection, count: all, forbidden: [], sample: ["1", "2"] }),
    async page(_, after, limit) {
      const from = Number(after ?? 0);
      const items = Array.from(
        { length: Math.min(limit, all - from) },
        (_each, index) => `${from + index + 1}`,
      );
      return { items: items.map((item) => ({ item, cursor: item })), end: from + limit >= all };
    },
    async applyIn(tx, _, items) {
      if (isBroken()) throw new Error("the other side is gone");
      await tx.run(put, [items.map(({ item }) => Number(item))]);
      return items.map(({ item }) => ({ item, outcome: "done" as const }));
    },
  };
  return { kind, done: async () => (await platform.database.run<{ n: number }>(read)).map(({ n }) => n) };
}

test("four eyes: it waits, whoever asked may not approve, another person may; declined, nothing is done", async () => {
  const { kind, done } = await counter(3);
  platform.operations.register(kind);
  const options = { kind: kind.name, selection: {}, ...ada, approval: true };
  const { operation } = await platform.operations.start(options);
  expect(operation.state).toBe("awaiting_approval");
  await expect(platform.operations.say("approve", operation.id, ada)).rejects.toMatchObject({
    code: "TUNTAS_OPERATION_FOUR_EYES",
  });
  expect(await done()).toEqual([]);
  await platform.operations.say("approve", operation.id, grace);
  expect(await platform.operations.settled(operation.id)).toMatchObject({
    state: "completed",
    decidedBy: "grace",
  });
  expect(await done()).toEqual([1, 2, 3]);

  const { operation: other } = await platform.operations.start(options);
  expect(await platform.operations.say("decline", other.id, grace)).toMatchObject({
    state: "declined",
    done: 0,
  });
  await expect(platform.operations.say("approve", other.id, grace)).rejects.toMatchObject({
    code: "TUNTAS_OPERATION_STATE",
  });
});

test("paused it stands still, resumed it goes on where it was, aborted it stays as it is; each once", async () => {
  const { kind, done } = await counter(60);
  platform.operations.register(kind);
  const { operation } = await platform.operations.start({
    kind: kind.name,
    selection: {},
    ...ada,
    perSecond: 10,
  });
  await expect.poll(async () => (await done()).length).toBeGreaterThan(3);
  await platform.operations.say("pause", operation.id, grace);
  const paused = await done();
  await platform.operations.setRate(operation.id, null, grace);
  expect(await platform.operations.settled(operation.id)).toMatchObject({
    state: "paused",
    done: paused.length,
  });
  await platform.operations.say("resume", operation.id, grace);
  expect(await platform.operations.settled(operation.id)).toMatchObject({ state: "completed", done: 60 });
  expect(await done()).toEqual(Array.from({ length: 60 }, (_, index) => index + 1));

  const { operation: other } = await platform.operations.start({
    kind: kind.name,
    selection: {},
    ...ada,
    perSecond: 5,
  });
  expect(await platform.operations.say("abort", other.id, grace)).toMatchObject({ state: "aborted" });
  await expect(platform.operations.say("resume", other.id, grace)).rejects.toMatchObject({
    code: "TUNTAS_OPERATION_STATE",
  });
});

test("a count that has moved by more than a tenth, nothing selected, nobody named, an unknown kind: refused", async () => {
  const { kind } = await counter(12);
  platform.operations.register(kind);
  const options = { kind: kind.name, selection: {}, ...ada };
  await expect(platform.operations.start({ ...options, expected: 10 })).rejects.toMatchObject({
    code: "TUNTAS_OPERATION_CHANGED",
    message: expect.stringMatching(/10.*12/),
  });
  await expect(platform.operations.start({ ...options, reason: " " })).rejects.toMatchObject({
    code: "TUNTAS_OPERATION_OPTIONS",
  });
  await expect(platform.operations.start({ ...options, kind: "nope" })).rejects.toMatchObject({
    code: "TUNTAS_OPERATION_KIND",
    message: expect.stringContaining("replay"),
  });
  const { name } = await deadLetters([]);
  await expect(
    platform.operations.start({ ...options, kind: "replay", selection: { filter: { queue: name } } }),
  ).rejects.toMatchObject({ code: "TUNTAS_OPERATION_EMPTY" });
});

test("a kind that throws fails with its reason, and is resumed once it is mended", async () => {
  let broken = true;
  const { kind, done } = await counter(2, () => broken);
  platform.operations.register(kind);
  const { operation } = await platform.operations.start({ kind: kind.name, selection: {}, ...ada });
  expect(await platform.operations.settled(operation.id)).toMatchObject({
    state: "failed",
    failure: "the other side is gone",
  });
  broken = false;
  await platform.operations.say("resume", operation.id, grace);
  expect(await platform.operations.settled(operation.id)).toMatchObject({
    state: "completed",
    failure: null,
  });
  expect(await done()).toEqual([1, 2]);
});

test("reject ends with a reason, move empties a dead-letter queue into another, purge empties a queue", async () => {
  const { name } = await deadLetters(["DOWN", "DOWN", "BAD"]);
  const run = async (kind: string, selection: object) => {
    const { operation } = await platform.operations.start({ kind, selection, ...ada });
    return platform.operations.settled(operation.id);
  };
  expect(await run("reject", { filter: { queue: name, code: "BAD" }, code: "WITHDRAWN" })).toMatchObject({
    state: "completed",
    done: 1,
  });
  const other = `other-${name}`;
  await platform.queues.catalog.create(defaultScope, other, {});
  expect(await run("move", { from: `${name}-dlq`, to: other })).toMatchObject({
    state: "completed",
    done: 2,
  });
  expect((await depth(other)).ready).toBe(2);
  expect(await run("purge", { queue: other })).toMatchObject({ state: "completed", selected: 2, done: 2 });
  expect((await depth(other)).ready).toBe(0);
  const found = await platform.queues.catalog.get(defaultScope, other);
  await platform.queues.sender.send(found, { messageId: randomUUID(), body: "x" }, "tests");
  expect(await run("purge", { queue: other })).toMatchObject({ state: "completed", refused: 1 });
});

/** Keeps this process's runner busy, so that another carries out what comes next. */
async function occupy(): Promise<() => Promise<void>> {
  const { kind } = await counter(1000);
  platform.operations.register(kind);
  const slow = { kind: kind.name, selection: {}, ...ada, perSecond: 1 };
  const started = await Promise.all([1, 2, 3, 4].map(() => platform.operations.start(slow)));
  const held = statement("select 1 from tuntas.operation where kind = $1 and owner_id is not null");
  const count = async () => (await platform.database.run(held, [kind.name])).length;
  await expect.poll(count).toBe(4);
  return async () => {
    for (const { operation } of started) await platform.operations.say("abort", operation.id, ada);
  };
}

test("a process that is killed in the middle: another goes on, and each item is done once", async () => {
  const { name, sent } = await deadLetters(Array.from({ length: 40 }, () => "DOWN"));
  const free = await occupy();
  const env = { ...process.env, DATABASE_URL: kit.databaseUrl, SCHEMA: kit.schema };
  const child = fork(fileURLToPath(new URL("operation.fixture.mjs", import.meta.url)), { env });
  await once(child, "message");
  const options = { kind: "replay", selection: { filter: { queue: name } }, ...ada, perSecond: 10 };
  const { operation } = await platform.operations.start(options);
  const done = async () => (await platform.operations.get(operation.id)).done;
  await expect.poll(done).toBeGreaterThan(3);

  child.kill("SIGKILL");
  await free();
  expect(await done()).toBeLessThan(40);
  expect(await platform.operations.settled(operation.id)).toMatchObject({ state: "completed", done: 40 });
  const items = await platform.operations.items(operation.id);
  expect(items.map(({ item }) => item).toSorted()).toEqual(sent.toSorted());
  expect((await depth(name)).ready).toBe(40);
});
