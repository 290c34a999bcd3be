// A process that runs an application, from its start to its end, with real signals.
import { afterAll, beforeAll, expect, test } from "vitest";
import { testDatabase, type TestDatabase } from "./testing/index.ts";

const script = new URL("run.fixture.mjs", import.meta.url);

let database: TestDatabase;
beforeAll(async () => void (database = await testDatabase()));
afterAll(() => database[Symbol.asyncDispose]());

const inOrder = [
  "before",
  "service.stopping",
  "drained",
  "attempt.ended",
  "service.acknowledged",
  "closed",
  "service.closed",
  "service.exit",
];

const run = (word: string, drain?: string) => database.run(script, { WORD: word, DRAIN: drain });

test("W-33: a signal drains what is served, lets workers finish, closes what is served and the database, and exits 0", async () => {
  const running = run("quick");
  await Promise.all([running.line("service.ready"), running.line("attempt.begun")]);
  running.child.kill("SIGTERM");
  expect(await running.ended).toEqual({ status: 0, signal: null });
  expect(running.lines.map(({ event }) => event).filter((event) => inOrder.includes(event!))).toEqual(
    inOrder,
  );
});

test("W-34: what does not finish within the drain is aborted and given back", async () => {
  const running = run("slow", "100ms");
  await running.line("attempt.begun");
  running.child.kill("SIGINT");
  expect(await running.ended).toEqual({ status: 0, signal: null });
  expect(await database.query("select receives from tuntas.ready")).toHaveLength(1);
});

test("what cannot begin is told, with everything closed again and status 1", async () => {
  const running = run("taken");
  expect(await running.ended).toEqual({ status: 1, signal: null });
  expect(running.errors()).toContain("the port is taken");
  expect(running.lines.map(({ event }) => event)).toContain("service.closed");
});

test("a signal that comes while it begins ends it in order: nothing works, nobody is registered, status 0", async () => {
  const running = run("early");
  await running.line("before");
  running.child.kill("SIGTERM");
  expect(await running.ended).toEqual({ status: 0, signal: null });
  const events = running.lines.map(({ event }) => event);
  expect(events.filter((event) => event?.startsWith("service.") || event === "attempt.begun")).toEqual([
    "service.stopping",
    "service.closed",
    "service.exit",
  ]);
  expect(await database.query("select name from tuntas.process where name = 'reader'")).toEqual([]);
});

test("a second signal ends a start that does not end", async () => {
  const running = run("never");
  await running.line("before");
  running.child.kill("SIGTERM");
  await running.line("service.stopping");
  running.child.kill("SIGTERM");
  expect(await running.ended).toEqual({ status: 143, signal: null });
});
