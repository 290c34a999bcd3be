import type { ChildProcess } from "node:child_process";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { forkReady } from "../../engine/child.fixture.ts";
import { testPlatform, type TestPlatform } from "../../testing/index.ts";
import { ask, freshName, gate, watch, work } from "./worker.fixture.ts";

let kit: TestPlatform;
const children: ChildProcess[] = [];
beforeAll(async () => {
  kit = await testPlatform();
  await ask(kit.platform, "create table tuntas.effect (id text not null, who text)");
});
afterAll(() => kit[Symbol.asyncDispose]());
beforeEach(() => ask(kit.platform, "truncate tuntas.effect"));
afterEach(() => children.splice(0).forEach((child) => child.kill("SIGKILL")));

const count = (record: { id: number }) => kit.platform.queues.catalog.count(record as never);
const effects = async () =>
  (await ask(kit.platform, "select id from tuntas.effect order by id")).map(({ id }) => id);

/** A process with a worker of the queue; `told` resolves at a message that matches. */
async function spawn(name: string, options: object = {}) {
  const parts = { databaseUrl: kit.databaseUrl, schema: kit.schema, name, ...options };
  const { child, told, heard } = await forkReady(new URL("process.fixture.mjs", import.meta.url), parts);
  children.push(child);
  return { child, told, processId: heard[0].ready as string };
}

/** Sends in one commit, so that one claim gets all. */
const sendAll = (name: string, ids: string[]) =>
  ask(
    kit.platform,
    `select count(tuntas.send($1, json_build_object('id', id)::text)) from unnest($2::text[]) with ordinality as u(id, n)`,
    [name, ids],
  );

const insert =
  (who: string) =>
  async ({ id }: { id: string }, { tx }: any) =>
    void (await tx.query(`insert into ${kit.schema}.effect values ($1, $2)`, [id, who]));

test("a handler that blocks its event loop harms nobody: what it holds is handled by another process", async () => {
  const name = freshName();
  const { child, told } = await spawn(name);
  await sendAll(name, ["block", "b1"]);
  await told(({ begun }) => begun === "block");
  await using it = await work(kit.platform, { handle: insert("parent") }, { name, after: 5 });
  await it.attempts.until(2);
  expect(await effects()).toEqual(["b1", "block"]);
  expect(child.exitCode).toBe(null);
});

test("a blocked event loop does not block its FIFO groups either", async () => {
  const name = freshName(".fifo");
  const { told } = await spawn(name);
  await ask(
    kit.platform,
    "select tuntas.send($1, '{\"id\":\"block-fifo\"}', group_id => 'g', deduplication_id => '1')",
    [name],
  );
  await told(({ begun }) => begun === "block-fifo");
  await ask(
    kit.platform,
    "select tuntas.send($1, '{\"id\":\"second\"}', group_id => 'g', deduplication_id => '2')",
    [name],
  );
  await using it = await work(kit.platform, { handle: insert("parent") }, { name, after: 5 });
  await it.attempts.until(2);
  expect(await effects()).toEqual(["block-fifo", "second"]);
});

test("W-16 W-22 kill -9: what a process held is handled again within about a second, once", async () => {
  const name = freshName();
  const { child, told } = await spawn(name, { timeout: "60s" });
  await sendAll(name, ["hold", "waits"]);
  await told(({ begun }) => begun === "hold");
  await using it = await work(kit.platform, { handle: insert("parent") }, { name, after: 5 });
  const killedAt = performance.now();
  child.kill("SIGKILL");
  await it.attempts.until(2);
  const tookMs = performance.now() - killedAt;
  expect(await effects()).toEqual(["hold", "waits"]);
  expect(tookMs).toBeLessThan(10_000);
  console.log(`handled again ${Math.round(tookMs)} ms after kill -9`);
});

test("W-19 kill -9 of the holder of a lock: the other message of its entity goes on", async () => {
  const name = freshName();
  const { child, told } = await spawn(name, { timeout: "60s", lock: true });
  await sendAll(name, ["hold"]);
  await told(({ begun }) => begun === "hold");
  const { attempts, ...it } = await work(
    kit.platform,
    { lock: () => "one", handle: insert("parent") },
    { name, after: 5 },
  );
  const promoted = watch("queue.promoted", ({ queueId }) => queueId === it.record.id);
  await sendAll(name, ["same entity"]);
  await promoted.until(2);
  expect(attempts.seen).toEqual([]);
  child.kill("SIGKILL");
  await attempts.until(2);
  expect(await effects()).toEqual(["hold", "same entity"]);
  await it.app.stop();
  attempts.close();
  promoted.close();
});

test("W-26 SIGSTOP past its lease: others take over, and its late settle changes nothing", async () => {
  const name = freshName();
  const { child, told } = await spawn(name, { timeout: "60s" });
  await sendAll(name, ["hold"]);
  await told(({ begun }) => begun === "hold");
  child.kill("SIGSTOP");
  await using it = await work(
    kit.platform,
    { idempotencyKey: "none", handle: insert("parent") },
    { name, after: 5 },
  );
  // Its transaction holds the key's record, so the one who takes over must not need it to be let through.
  await kit.advance(16_000);
  await it.attempts.until(1);
  child.kill("SIGCONT");
  child.send("hold");
  await told(({ lost }) => lost);
  await sendAll(name, ["later"]);
  await it.attempts.until(1);
  expect((await effects()).filter((id) => id === "hold")).toHaveLength(1);
});

/** The server session that holds the presence lock of a process. */
const cutPresence = (processId: string) =>
  ask(
    kit.platform,
    `select pg_terminate_backend(l.pid) from pg_locks l, tuntas.process p
     where p.id = $1 and l.locktype = 'advisory' and (l.classid::bigint << 32) | l.objid::bigint = p.lock_key and l.granted`,
    [processId],
  );

test("a process whose lock session is cut goes on or begins anew, and nothing is doubled", async () => {
  const other = await kit.another();
  const goOn = gate();
  const inside = gate();
  const handle = async ({ id }: { id: string }, { tx }: any) => {
    await tx.query(`insert into ${kit.schema}.effect values ($1, '')`, [id]);
    if (id !== "held") return;
    inside.open();
    await goOn.promise;
  };
  await using it = await work(kit.platform, { handle }, { after: 5 });
  await using twin = await work(other, { handle }, { after: 5, name: it.queue.name });
  await it.queue.send({ id: "held" });
  await inside.promise;
  for (const platform of [kit.platform, other])
    expect(await cutPresence(platform.processId())).toHaveLength(1);
  await Promise.all(Array.from({ length: 20 }, (_, n) => it.queue.send({ id: `n${n}` })));
  await it.attempts.until(20);
  goOn.open();
  const settled = watch("worker.attempt", ({ outcome }) => outcome === "done" || outcome === "duplicate");
  while ((await count(it.record)).inFlight + (await count(it.record)).ready > 0)
    await new Promise(setImmediate);
  expect(
    await ask(kit.platform, "select count(*)::int, count(distinct id)::int as ids from tuntas.effect"),
  ).toEqual([{ count: 21, ids: 21 }]);
  settled.close();
  void twin;
});

test("a process that was taken for dead is told, aborts what it runs, and works under a new id", async () => {
  const platform = await kit.another();
  const before = platform.processId();
  const reason = gate<any>();
  const inside = gate();
  let first = true;
  const handle = ({ id }: { id: string }, { signal, write }: any) => {
    void write;
    if (id !== "lost" || !first) return undefined;
    first = false;
    return new Promise((resolve) => {
      signal.addEventListener("abort", () => {
        reason.open(signal.reason);
        resolve(undefined);
      });
      inside.open();
    });
  };
  await using it = await work(platform, { handle }, { after: 5 });
  await it.queue.send({ id: "lost" });
  await inside.promise;
  await ask(kit.platform, "delete from tuntas.process where id = $1", [before]);
  expect(await reason.promise).toMatchObject({ code: "TUNTAS_CLAIM_LOST" });
  await it.attempts.until(1); // an orphan's message is found by the next sweep
  while (platform.processId() === before) await new Promise(setImmediate);
  expect(await count(it.record)).toEqual({ ready: 0, inFlight: 0, delayed: 0 });
});
