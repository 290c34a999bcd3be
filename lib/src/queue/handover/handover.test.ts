// Messages that their senders hand over to workers that rest, and what becomes of one whose worker dies, stops, is full, does
// not answer or does not hear of it.
import { fork, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { openWire, type Wire } from "../../../../sim/fault/proxy.ts";
import { openPlatform, type Platform } from "../../index.ts";
import type { QueueRecord } from "../contract.ts";
import type { Tx } from "../../pg/contract.ts";
import { testPlatform, type TestPlatform } from "../../testing/index.ts";
import { ask, freshName, gate, watch, work, type Fields, type Work } from "../worker/worker.fixture.ts";
import { takeOver } from "../sweep.ts";
import { insertAlone } from "./store.ts";

let kit: TestPlatform;
let other: Platform;
let wire: Wire;
/** A platform whose notifications may be lost. */
let wired: Platform;
const children: ChildProcess[] = [];
beforeAll(async () => {
  kit = await testPlatform({ watches: false });
  other = await kit.another();
  wire = await openWire(kit.databaseUrl);
  wired = await openPlatform({ databaseUrl: wire.url, schema: kit.schema, watches: false });
  await ask(kit.platform, "create table tuntas.effect (id text not null, who text)");
});
afterEach(() => {
  wire.notifications = "pass";
  children.splice(0).forEach((child) => child.kill("SIGKILL"));
});
afterAll(async () => {
  await wired.close();
  await kit[Symbol.asyncDispose]();
  await wire[Symbol.asyncDispose]();
});

const patient = { interval: 20 };

const offered = async (queueId: number): Promise<string[]> =>
  (await ask(kit.platform, "select owner_id::text from tuntas.offer where queue_id = $1", [queueId])).map(
    ({ owner_id }) => owner_id,
  );

const offers = (queueId: number, ownerIds: readonly string[]) =>
  expect.poll(async () => (await offered(queueId)).toSorted(), patient).toEqual([...ownerIds].toSorted());

/** Who holds what of the queue because its sender said so. */
const holders = async (queueId: number): Promise<string[]> =>
  (
    await ask(
      kit.platform,
      "select owner_id::text from tuntas.in_flight where queue_id = $1 and handed_over",
      [queueId],
    )
  ).map(({ owner_id }) => owner_id);

const ready = (queueId: number) =>
  ask(kit.platform, "select receives, first_received_at from tuntas.ready where queue_id = $1", [queueId]);

const bodyOf = (id: string, more = "") => JSON.stringify({ id, more });

/** How long the sender rests until a commit brings its notification along: longer, the longer its last one took. */
let restMs = 100;

async function transmit(queue: QueueRecord, body: string, attributes?: string): Promise<void> {
  await pause(restMs);
  const begunAt = performance.now();
  await kit.platform.queues.sender.send(queue, { messageId: randomUUID(), body, attributes }, "test");
  restMs = 20 + (performance.now() - begunAt) * 5;
}

/** On a busy machine heartbeats come late, and who was not heard of lately is given nothing. */
const haveAllHeard = () => ask(kit.platform, "update tuntas.process set heartbeat_at = tuntas.now()");

/** Sends a message by itself from the first platform, after a rest. */
async function send({ record }: Pick<Work<any>, "record">, id: string, more = ""): Promise<void> {
  await haveAllHeard();
  await transmit(record, bodyOf(id, more));
}

/** Sends until one has gone to this process. */
async function handOver(it: Pick<Work<any>, "record">, ownerId: string): Promise<void> {
  for (let n = 0; !(await holders(it.record.id)).includes(ownerId); n++) await send(it, `n${n}`);
}

const handedOver = (queueId: number) => watch("queue.handed_over", (fields) => fields.queueId === queueId);
const nothing = { idempotencyKey: "none", handle: () => undefined } as const;

test("a message goes to a worker that rests elsewhere, in the commit of its send, with all that a claim tells", async () => {
  const got: Fields[] = [];
  const handle = ({ id }: { id: string }, context: Fields) =>
    void got.push({ id, attempt: context.attempt, correlationId: context.correlationId });
  await using it = await work(other, { idempotencyKey: "none", handle });
  await offers(it.record.id, [other.processId()]);
  using received = watch("queue.received", ({ queueId }) => queueId === it.record.id);
  using given = handedOver(it.record.id);
  for (let n = 0; given.seen.length === 0; n++) {
    const attributes = JSON.stringify({ correlationId: { DataType: "String", StringValue: "c" } });
    await haveAllHeard();
    await transmit(it.record, bodyOf(`n${n}`), attributes);
    await it.attempts.until(n + 1);
  }
  expect(got.at(-1)).toMatchObject({ attempt: 1, correlationId: "c" });
  expect(received.seen.length).toBe(got.length);
  expect(given.seen).toMatchObject([{ count: 1 }]);
  await offers(it.record.id, [other.processId()]);
});

/** While it lasts, the process's heartbeat waits, and so finds nothing. */
const withoutBeat = (platform: Platform, work: () => Promise<void>) =>
  kit.platform.database.transaction(async ({ client }) => {
    await client.query(`select from ${kit.schema}.process where id = $1 for update`, [platform.processId()]);
    await work();
  });

test("one that no notification can carry is read by its worker", async () => {
  const got: string[] = [];
  await using it = await work(other, { idempotencyKey: "none", handle: ({ id }) => void got.push(id) });
  await offers(it.record.id, [other.processId()]);
  using given = handedOver(it.record.id);
  // JSON makes six characters of each of these.
  for (const more of ["x".repeat(100_000), "\t".repeat(5000)]) {
    const before = given.seen.length;
    while (given.seen.length === before) {
      await haveAllHeard();
      const next = got.length + 1;
      await withoutBeat(other, async () => {
        await transmit(it.record, bodyOf("large", more));
        const ready = await ask(kit.platform, "select from tuntas.ready where queue_id = $1", [it.record.id]);
        // What was not handed over may wait for the beat.
        if (ready.length === 0) await it.attempts.until(next);
      });
      await it.attempts.until(next);
    }
  }
  expect(it.attempts.seen.every(({ outcome }) => outcome === "done")).toBe(true);
});

test("whoever sends to a worker of its own process tells nobody else", async () => {
  await using it = await work(kit.platform, nothing);
  await offers(it.record.id, [kit.platform.processId()]);
  using given = handedOver(it.record.id);
  for (let n = 0; given.seen.length === 0; n++) {
    await send(it, `n${n}`);
    await it.attempts.until(n + 1);
  }
  expect(await holders(it.record.id)).toEqual([]);
});

test("one whose notification is lost is found by looking", async () => {
  await using it = await work(wired, nothing);
  await offers(it.record.id, [wired.processId()]);
  wire.notifications = "lost";
  using given = handedOver(it.record.id);
  for (let n = 0; given.seen.length === 0; n++) {
    await send(it, `n${n}`);
    await it.attempts.until(n + 1);
  }
  expect(it.attempts.seen.every(({ attempt }) => attempt === 1)).toBe(true);
});

test("one whose notification comes twice is handled once", async () => {
  await using it = await work(wired, nothing);
  await offers(it.record.id, [wired.processId()]);
  wire.notifications = "doubled";
  using given = handedOver(it.record.id);
  for (let n = 0; given.seen.length < 3; n++) {
    await send(it, `n${n}`);
    await it.attempts.until(n + 1);
    await pause(100);
    expect(it.attempts.seen.length).toBe(n + 1);
  }
});

test("who does not hear offers nothing, and offers again once it hears", async () => {
  await using it = await work(wired, nothing);
  const { id: queueId } = it.record;
  await offers(queueId, [wired.processId()]);
  await ask(kit.platform, "create table tuntas.withdrawn (queue_id int)");
  await ask(
    kit.platform,
    `create function tuntas.note_withdrawn() returns trigger language plpgsql as
       $$ begin insert into tuntas.withdrawn values (old.queue_id); return null; end $$`,
  );
  await ask(
    kit.platform,
    "create trigger noted after delete on tuntas.offer for each row execute function tuntas.note_withdrawn()",
  );
  await ask(
    kit.platform,
    `select pg_terminate_backend(pid) from pg_stat_activity where query like 'listen "${kit.schema}.%' and client_port = any($1)`,
    [wire.serverPorts()],
  );
  const withdrawn = () => ask(kit.platform, "select queue_id from tuntas.withdrawn");
  await expect.poll(withdrawn, patient).toEqual([{ queue_id: queueId }]);
  await offers(queueId, [wired.processId()]);
  await ask(kit.platform, "drop trigger noted on tuntas.offer");
});

test("a paused queue gives nothing to a worker that rests", async () => {
  await using it = await work(other, nothing);
  await offers(it.record.id, [other.processId()]);
  const { catalog } = kit.platform.queues;
  await catalog.pause(it.record, "tests", "a test");
  for (const id of ["a", "b"]) await send(it, id);
  expect(await catalog.count(it.record)).toEqual({ ready: 2, inFlight: 0, delayed: 0 });
  await catalog.resume(it.record, "tests", "a test");
  await it.attempts.until(2);
});

test("several that rest are given messages in no order", async () => {
  await using it = await work(other, nothing);
  await using twin = await work(wired, nothing, { name: it.queue.name });
  await offers(it.record.id, [other.processId(), wired.processId()]);
  const owners: string[] = [];
  await haveAllHeard();
  await kit.platform.database
    .transaction(async (tx) => {
      for (let n = 0; n < 40; n++) {
        await insertAlone(tx, addressed(it), sendingAs(kit.platform));
        owners.push(...(await heldBy(tx, it.record.id)));
      }
      throw new Error("nothing of this is sent");
    })
    .catch(() => undefined);
  for (const platform of [other, wired])
    expect(owners.filter((owner) => owner === platform.processId()).length).toBeGreaterThan(3);
  void twin;
});

test("a worker that is full takes its offer back, and what comes all the same goes to another", async () => {
  const inside = gate();
  const goOn = gate();
  const handle = async ({ id }: { id: string }) => {
    if (id !== "long") return;
    inside.open();
    await goOn.promise;
  };
  await using it = await work(other, { idempotencyKey: "none", concurrency: 1, handle });
  const { id: queueId } = it.record;
  await offers(queueId, [other.processId()]);
  await send(it, "long");
  await inside.promise;
  await offers(queueId, []);
  // As where the connection that wrote it was lost, and it commits late.
  await ask(kit.platform, "insert into tuntas.offer select $1, $2, $3", [
    queueId,
    other.processId(),
    `${kit.schema}.${other.context.mailbox.channel}`,
  ]);
  for (let n = 0; (await offered(queueId)).length > 0; n++) await send(it, `n${n}`);
  await using _twin = await work(wired, nothing, { name: it.queue.name });
  // One waits behind the long one, as it would have been claimed ahead.
  await expect.poll(async () => (await ready(queueId)).length, patient).toBe(0);
  expect(it.attempts.seen.every(({ attempt }) => attempt === 1)).toBe(true);
  goOn.open();
  await expect
    .poll(() => kit.platform.queues.catalog.count(it.record), patient)
    .toMatchObject({ inFlight: 0 });
});

const addressed = ({ record }: Pick<Work<any>, "record">) => ({
  queueId: record.id,
  sender: "test",
  message: { messageId: randomUUID(), body: bodyOf("late") },
});
const sendingAs = (platform: Platform) => ({
  processId: platform.processId(),
  channel: `${kit.schema}.ready`,
});
const heldBy = async (tx: Tx, queueId: number): Promise<string[]> =>
  (
    await tx.run<{ owner: string }>(
      {
        name: "held_by",
        text: "select owner_id::text as owner from tuntas.in_flight where queue_id = $1 order by fence desc limit 1",
      },
      [queueId],
    )
  ).map(({ owner }) => owner);

/** Hands a message over, and has `meanwhile` happen before the commit. Its promise is answered after the commit. */
async function handOverLate<T>(it: Pick<Work<any>, "record">, meanwhile: () => Promise<T>): Promise<T> {
  let under!: Promise<T>;
  await kit.platform.database.transaction(async (tx) => {
    await expect
      .poll(async () => {
        await haveAllHeard();
        return (await insertAlone(tx, addressed(it), sendingAs(kit.platform)))!.fence;
      }, patient)
      .not.toBe(null);
    under = meanwhile();
    const waits = `select count(*)::int as n from pg_stat_activity where wait_event_type = 'Lock' and query like '%delete from ${kit.schema}.offer%'`;
    await expect.poll(async () => (await ask(kit.platform, waits))[0].n, patient).toBe(1);
  });
  return under;
}

test("a send that commits after its worker has stopped: the message is ready, and was not received", async () => {
  await using it = await work(wired, nothing);
  await offers(it.record.id, [wired.processId()]);
  wire.notifications = "lost";
  await handOverLate(it, () => it.app.stop());
  expect(await holders(it.record.id)).toEqual([]);
  const all = await ready(it.record.id);
  expect(all.length).toBeGreaterThan(0);
  for (const row of all) expect(row).toEqual({ receives: 0, first_received_at: null });
});

test("a send that commits after the take-over of its worker's process strands nothing", async () => {
  await using it = await work(other, nothing);
  await it.app.stop();
  const [{ id }] = await ask(
    kit.platform,
    `insert into tuntas.process (name, host, pid, version, started_at, heartbeat_at, expires_at)
     values ('dead', '', 0, '', tuntas.now(), tuntas.now(), tuntas.now() + interval '1 hour') returning id::text`,
  );
  await ask(kit.platform, "insert into tuntas.offer values ($1, $2, 'nobody')", [it.record.id, id]);
  await handOverLate(it, () => takeOver(kit.platform.context, [id]));
  expect(await holders(it.record.id)).toEqual([]);
  expect(await ready(it.record.id)).not.toEqual([]);
  expect(await ask(kit.platform, "select from tuntas.process where id = $1", [id])).toEqual([]);
});

/** A process with one worker of the queue, which rests. */
async function spawn(record: { readonly id: number; readonly name: string }) {
  const parts = { databaseUrl: kit.databaseUrl, schema: kit.schema, name: record.name, timeout: "60s" };
  const child = fork(
    fileURLToPath(new URL("../worker/process.fixture.mjs", import.meta.url)),
    [JSON.stringify(parts)],
    { env: { ...process.env, TUNTAS_LOG_LEVEL: "silent" } },
  );
  children.push(child);
  const ready = gate<string>();
  const begun = gate();
  child.on("message", (message: Fields) => {
    if (message.ready) ready.open(message.ready);
    if (message.begun === "block") begun.open();
  });
  const processId = await ready.promise;
  await offers(record.id, [processId]);
  return { child, begun: begun.promise, processId };
}

/** A queue whose workers are elsewhere. */
async function emptyQueue() {
  const it = await work(other, nothing, { name: freshName(), after: 5 });
  await it[Symbol.asyncDispose]();
  return it;
}

test("kill -9 of a process that had not yet seen it: it is begun elsewhere, once, as at its first receive", async () => {
  const it = await emptyQueue();
  const { child, processId } = await spawn(it.record);
  child.kill("SIGSTOP");
  await handOver(it, processId);
  const killedAt = performance.now();
  child.kill("SIGKILL");
  await using here = await work(other, nothing, { name: it.queue.name });
  await expect.poll(() => holders(it.record.id), patient).toEqual([]);
  await expect
    .poll(() => kit.platform.queues.catalog.count(it.record), patient)
    .toEqual({ ready: 0, inFlight: 0, delayed: 0 });
  console.log(`all was handled ${Math.round(performance.now() - killedAt)} ms after kill -9`);
  expect(here.attempts.seen.every(({ attempt }) => attempt === 1)).toBe(true);
  expect(new Set(here.attempts.seen.map(({ messageId }) => messageId)).size).toBe(here.attempts.seen.length);
});

test("a process whose event loop is blocked is given nothing soon, and what it has not seen goes back", async () => {
  const it = await emptyQueue();
  const { begun } = await spawn(it.record);
  // The heartbeat's thread withdraws while the message is on its way.
  await handOverLate(it, async () => {
    await ask(kit.platform, `select tuntas.send($1, '{"id":"block"}')`, [it.record.name]);
    await begun;
  });
  await offers(it.record.id, []);
  await expect.poll(() => holders(it.record.id), patient).toEqual([]);
  const all = await ready(it.record.id);
  expect(all.length).toBeGreaterThan(0);
  for (const row of all) expect(row).toEqual({ receives: 0, first_received_at: null });
});
