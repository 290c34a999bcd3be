// The cases of conformance/cases.jsonl that are about queues, workers, payloads and idempotency, each under its id.
import { createHash, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { backoffMs, defaultBackoff } from "../core/backoff.ts";
import { queue, start, app } from "../index.ts";
import { testPlatform, type TestPlatform } from "../testing/index.ts";
import type { HeldMessage, QueueRecord, QueueSettings } from "./contract.ts";
import { defaultScope } from "./contract.ts";
import { encodeReceipt } from "./receipt.ts";
import { ask, declare, freshName, gate, watch, work } from "./worker/worker.fixture.ts";

let kit: TestPlatform;
beforeAll(async () => void (kit = await testPlatform()));
afterAll(() => kit[Symbol.asyncDispose]());

const create = async (settings: QueueSettings = {}, suffix = ""): Promise<QueueRecord> =>
  (await kit.platform.queues.catalog.create(defaultScope, freshName(suffix), settings)).queue;

const send = (record: QueueRecord, body: string, more: object = {}) =>
  kit.platform.queues.sender.send(record, { messageId: randomUUID(), body, ...more }, "test");

const receive = (
  record: QueueRecord,
  countMax = 10,
  visibilitySeconds: number | null = null,
): Promise<HeldMessage[]> =>
  kit.platform.queues.receiver.receive(record, { countMax, waitMs: 0, visibilitySeconds });

const { delete: remove, change } = {
  delete: (record: QueueRecord, held: HeldMessage) =>
    kit.platform.queues.receipts.delete(record, encodeReceipt(held)),
  change: (record: QueueRecord, held: HeldMessage, seconds: number) =>
    kit.platform.queues.receipts.change(record, encodeReceipt(held), seconds),
};
const count = (record: QueueRecord) => kit.platform.queues.catalog.count(record);
const empty = { ready: 0, inFlight: 0, delayed: 0 };
const seconds = (n: number) => kit.advance(n * 1000);

/** Resolves once every heartbeat has noticed how far the clock was moved: until then others may find it late. */
async function leasesRenewed(): Promise<void> {
  const late = "select from tuntas.process where heartbeat_at < tuntas.now() - interval '5s'";
  while ((await ask(kit.platform, late)).length > 0) await new Promise(setImmediate);
}

describe("queue", () => {
  test("queue-01 an old receipt does not remove what somebody else holds", async () => {
    const record = await create({ visibilitySeconds: 5 });
    await send(record, "m1");
    const [first] = await receive(record);
    await seconds(6);
    const [second] = await receive(record);
    // Its change of visibility to 0 is left out: what was recorded of AWS lets an older receipt do that
    // (conformance/sqs, visibility/terminate-with-older-handle).
    await remove(record, first!);
    await seconds(4);
    expect(await receive(record)).toEqual([]); // still in flight for B
    await seconds(1.5);
    const [third] = await receive(record);
    expect(third).toMatchObject({ body: "m1", receives: 3 });
    await remove(record, second!);
    expect(await count(record)).toMatchObject({ inFlight: 1 });
    expect([await remove(record, third!), await remove(record, third!)]).toEqual(["ok", "ok"]);
    expect(await count(record)).toEqual(empty);
  });

  test("queue-06 a receive maximum of three means three deliveries", async () => {
    const dead = await create();
    const record = await create({ visibilitySeconds: 1, deadLetterName: dead.name, receivesMax: 3 });
    const attributes = '{"k":{"DataType":"String","StringValue":"v"}}';
    const { messageId } = await send(record, "m", { attributes });
    const received: number[][] = [];
    for (let i = 0; i < 6; i++) {
      received.push((await receive(record)).map(({ receives }) => receives));
      if (i === 2) expect(await count(dead)).toEqual(empty);
      await seconds(2);
    }
    expect(received).toEqual([[1], [2], [3], [], [], []]);
    expect(await receive(dead)).toMatchObject([{ body: "m", attributes, messageId }]);
  });

  test("queue-09 the size limit counts UTF-8 bytes, and attributes by name, type and value", async () => {
    const raw = z.unknown();
    const of = queue(freshName(), {
      message: raw,
      deadLetter: { after: 3, owner: "o", runbook: "r", retention: "14d" },
    });
    await using running = await start(app({ of }), { platform: kit.platform, workers: false });
    const record = await kit.platform.queues.catalog.get(defaultScope, of.name);
    await kit.platform.queues.catalog.update(record, { messageBytesMax: 262_144 });
    const quoted = (length: number) => "x".repeat(length - 2); // JSON adds its quotes
    const tooLarge = { code: "TUNTAS_MESSAGE_SIZE" };
    await of.send(quoted(262_144));
    await expect(of.send(quoted(262_144), { attributes: { k: "v" } })).rejects.toMatchObject(tooLarge);
    await of.send(quoted(262_136), { attributes: { k: "v" } }); // 1 + 6 + 1 bytes
    await of.send("中".repeat(80_000));
    await expect(of.send("中".repeat(87_382))).rejects.toMatchObject(tooLarge);
    expect(await count(record)).toMatchObject({ ready: 3 });
    void running;
  });

  test("queue-10 a change of visibility that comes after the delete does nothing", async () => {
    const record = await create();
    await send(record, "m");
    const [held] = await receive(record);
    expect(await remove(record, held!)).toBe("ok");
    expect(await change(record, held!, 30)).toBe("gone");
    expect(await count(record)).toEqual(empty);
  });

  test("queue-11 messages that wait in a worker's buffer do not expire: each runs once in two processes", async () => {
    await leasesRenewed();
    const other = await kit.another();
    const ran: string[] = [];
    const goOn = gate();
    const handle = async ({ id }: { id: string }) => {
      ran.push(id);
      await goOn.promise;
    };
    await using it = await work(kit.platform, { handle, concurrency: 1 }, { visibilityTimeout: "30s" });
    await using twin = await work(
      other,
      { handle, concurrency: 1 },
      { name: it.queue.name, visibilityTimeout: "30s" },
    );
    await Promise.all(Array.from({ length: 10 }, (_, n) => it.queue.send({ id: `${n}` })));
    while ((await count(it.record)).inFlight < 4) await new Promise(setImmediate);
    // The clock runs past the visibility timeout, never past a lease that is being renewed.
    for (let n = 0; n < 3; n++) {
      await seconds(11);
      await leasesRenewed();
    }
    goOn.open();
    await it.attempts.until(10);
    expect(ran.toSorted()).toEqual(Array.from({ length: 10 }, (_, n) => `${n}`));
    void twin;
  });

  test("queue-12 two failures with one deduplication id both arrive in the FIFO dead-letter queue", async () => {
    const dead = await create({}, ".fifo");
    const record = await create({ deadLetterName: dead.name, receivesMax: 1, visibilitySeconds: 1 }, ".fifo");
    const more = { groupId: "g", deduplicationId: "d1" };
    expect(await send(record, "A", more)).toMatchObject({ status: "created" });
    await seconds(310);
    expect(await send(record, "B", more)).toMatchObject({ status: "created" });
    for (let i = 0; i < 4; i++) {
      await receive(record, 1);
      await seconds(2);
    }
    expect((await receive(dead)).map(({ body }) => body)).toEqual(["A", "B"]);
  });

  test("queue-13 a delay longer than the visibility timeout: delayed, not in flight, received once", async () => {
    const record = await create({ visibilitySeconds: 60 });
    await send(record, "task", { delaySeconds: 900 });
    for (let i = 0; i < 4; i++) {
      expect(await receive(record)).toEqual([]);
      expect(await count(record)).toEqual({ ready: 0, inFlight: 0, delayed: 1 });
      await seconds(200);
    }
    const other = await kit.another(); // a restart changes nothing
    await seconds(100);
    expect(await receive(record)).toMatchObject([{ body: "task", receives: 1 }]);
    expect(await receive(record)).toEqual([]);
    void other;
  });
});

describe("worker", () => {
  test("worker-05 age alone rescues nobody: 47 minutes of work are one attempt", async () => {
    const goOn = gate();
    const inside = gate();
    let runs = 0;
    await using alone = await testPlatform();
    await using it = await work(alone.platform, {
      timeout: "1h",
      handle: () => {
        runs++;
        inside.open();
        return goOn.promise;
      },
    });
    await it.queue.send({ id: "nightly" });
    await inside.promise;
    // Nobody else is there to find a heartbeat late that the clock has overtaken.
    await alone.advance(47 * 60_000);
    goOn.open();
    await it.attempts.until(1);
    expect(runs).toBe(1);
    expect(it.attempts.seen[0]).toMatchObject({ outcome: "done" });
  });

  test("worker-08 every sequence beyond 2^31 works, and sends move no sequence but the message's", async () => {
    await using alone = await testPlatform();
    const sequences = await ask<{ name: string }>(
      alone.platform,
      "select quote_ident(schemaname) || '.' || quote_ident(sequencename) as name from pg_sequences where schemaname = $1",
      [alone.schema],
    );
    const state = async () => {
      const rows = await Promise.all(
        sequences.map(async ({ name }) => [
          name,
          (await ask(alone.platform, `select last_value::text from ${name}`))[0].last_value,
        ]),
      );
      return Object.fromEntries(rows);
    };
    // Those of queues, streams and consumers count declarations, not what goes through them.
    const declared = /\.(queue|stream|stream_consumer)_id_seq$/;
    for (const { name } of sequences)
      if (!declared.test(name)) await ask(alone.platform, `select setval($1, 2147483648)`, [name]);
    const started = gate();
    const it = await work(alone.platform, {
      handle: (_, { signal }) => {
        started.open();
        return new Promise((resolve) => signal.addEventListener("abort", resolve));
      },
    });
    await it.queue.send({ id: "big" });
    await started.promise;
    await Promise.all([it.app.stop(), it.app.stop()]);
    expect(await alone.platform.queues.catalog.count(it.record)).toEqual({
      ready: 1,
      inFlight: 0,
      delayed: 0,
    });
    const before = await state();
    await Promise.all(
      Array.from({ length: 1000 }, (_, n) =>
        alone.platform.queues.sender.send(it.record, { messageId: randomUUID(), body: `${n}` }, "test"),
      ),
    );
    const after = await state();
    const moved = Object.keys(after).filter((name) => before[name] !== after[name]);
    expect(moved.filter((name) => !name.includes("fence"))).toEqual([
      expect.stringContaining("message_id_seq"),
    ]);
  });

  test("worker-09 backoff at attempt 31, 64 and 1100 is the cap", () => {
    const backoff = { baseMs: 2000, maxMs: 3_600_000 };
    const delays = [1, 10, 11, 12, 31, 32, 64, 1024, 1100].map(
      (attempt) => backoffMs(backoff, attempt, 1) / 1000,
    );
    expect(delays).toEqual([2, 1024, 2048, 3600, 3600, 3600, 3600, 3600, 3600]);
    expect(backoffMs(defaultBackoff, 1100, 1)).toBe(defaultBackoff.maxMs);
    for (const attempt of [1, 31, 64, 1100]) expect(backoffMs(backoff, attempt, 0)).toBeGreaterThan(0);
  });

  test("worker-09 a message that was received 1,100 times is still put back without an SQL error", async () => {
    await using it = await work(
      kit.platform,
      {
        handle: () => {
          throw new Error("again");
        },
      },
      { after: 1000 },
    );
    await ask(
      kit.platform,
      `do $$ begin
         perform tuntas.send('${it.queue.name}', '{"id":"old"}');
         update tuntas.ready set receives = 998 where queue_id = ${it.record.id};
       end $$`,
    );
    await it.attempts.until(1);
    const [row] = await ask(
      kit.platform,
      "select extract(epoch from due - tuntas.now())::float8 as s, receives from tuntas.delayed where queue_id = $1",
      [it.record.id],
    );
    expect(row.receives).toBe(999);
    expect(row.s).toBeGreaterThan(100);
    expect(row.s).toBeLessThanOrEqual(300);
  });
});

/** Sends over every way in, takes out over every way out, and gives the texts back. */
async function throughEverything(body: string): Promise<string[]> {
  const texts: string[] = [];
  const dead = await create();
  const record = await create({ deadLetterName: dead.name, receivesMax: 2, visibilitySeconds: 1 });
  await send(record, body);
  texts.push((await receive(record))[0]!.body);
  await seconds(2);
  texts.push((await receive(record))[0]!.body); // redelivered
  await seconds(2);
  await receive(record); // dead
  texts.push((await receive(dead, 1, 0))[0]!.body);
  await seconds(1);
  await kit.platform.queues.moves.start(dead, { destination: record });
  await kit.platform.context.due.sweep();
  const long = { countMax: 1, waitMs: 10_000, visibilitySeconds: null };
  texts.push((await kit.platform.queues.receiver.receive(record, long))[0]!.body); // redriven
  await ask(kit.platform, "select tuntas.send($1, $2)", [dead.name, body]);
  texts.push((await receive(dead))[0]!.body);
  return texts;
}

describe("batch", () => {
  test("batch-02 where all fail, all are reported; what throws undefined fails alone, and the rest is done", async () => {
    const handled: string[] = [];
    await using it = await work(
      kit.platform,
      {
        handle: ({ id }) => {
          handled.push(id);
          if (id !== "1" && id !== "3") throw id === "2" ? undefined : new Error(id);
        },
      },
      { after: 1 },
    );
    for (const id of ["1", "2", "3", "a", "b"]) await it.queue.send({ id });
    await it.attempts.until(5);
    expect(handled.toSorted()).toEqual(["1", "2", "3", "a", "b"]);
    const outcomes = it.attempts.seen.map(({ outcome }) => outcome as string).toSorted();
    expect(outcomes).toEqual(["done", "done", "retry", "retry", "retry"]);
    await expect.poll(() => count(it.deadLetters)).toMatchObject({ ready: 3 });
    const dead = (await receive(it.deadLetters)).map(({ body }) => (JSON.parse(body) as { id: string }).id);
    expect(dead.toSorted()).toEqual(["2", "a", "b"]);
  });
});

describe("payload", () => {
  test("payload-03 numbers beyond 2^53 and long decimals arrive as the same text", async () => {
    const body = '{"id":2512292042121000001,"max":9007199254740993,"ratio":0.2345678901234568,"price":1.10}';
    expect(await throughEverything(body)).toEqual(Array(5).fill(body));
  });

  test("payload-05 key order, duplicates and spacing survive redelivery, death and redrive: the digest matches", async () => {
    const body = '{"b":1, "a":2,"a":3, "n":1.10}';
    expect(Buffer.byteLength(body)).toBe(30);
    const digest = (text: string) => createHash("md5").update(text).digest("hex");
    expect((await throughEverything(body)).map(digest)).toEqual(Array(5).fill(digest(body)));
  });

  test("payload-04 __proto__ in a message is plain data, and pollutes nothing", async () => {
    const seen = gate<any>();
    await using it = await work(
      kit.platform,
      { idempotencyKey: "none", handle: (message) => seen.open(message) },
      { message: z.unknown() as never },
    );
    const body = '{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"p":1}}}';
    await ask(kit.platform, "select tuntas.send($1, $2, $3)", [
      it.queue.name,
      body,
      '{"__proto__":{"StringValue":"x"},"correlationId":{"StringValue":"c"}}',
    ]);
    const message = await seen.promise;
    expect(JSON.stringify(message)).toBe(body);
    expect([({} as any).isAdmin, ({} as any).p]).toEqual([undefined, undefined]);
    await it.attempts.until(1);
    expect(it.attempts.seen[0]).toMatchObject({ correlationId: "c" });
  });

  test.each(["__proto__", "constructor", "toString"])(
    "payload-04 a queue, a key and a group named %s are like any other",
    async (name) => {
      let calls = 0;
      await using it = await work(kit.platform, { handle: () => void calls++ }, { name });
      await it.queue.send({ id: name }, { attributes: { [name]: "x" }, groupId: name });
      await it.attempts.until(1);
      await it.queue.send({ id: name });
      await it.attempts.until(2);
      expect(it.attempts.seen.map(({ outcome }) => outcome)).toEqual(["done", "duplicate"]);
      expect(calls).toBe(1);
      expect(await count(it.record)).toEqual(empty);
    },
  );

  test("text that cannot be stored is refused before the database sees it, escapes of it pass", async () => {
    const of = declare({ name: freshName() });
    await using running = await start(app({ of }), { platform: kit.platform, workers: false });
    await of.send({ id: "\0 \uD800" }); // JSON.stringify escapes both
    await expect(of.send({ id: "x" }, { attributes: { a: "\0" } })).resolves.toBeDefined();
    const record = await kit.platform.queues.catalog.get(defaultScope, of.name);
    const bodies = (await receive(record)).map(({ body }) => body);
    expect(bodies).toContain('{"id":"\\u0000 \\ud800"}');
    void running;
  });
});

describe("idempotency", () => {
  test("idem-02 no record says that work is in progress, so none can outlive its process", async () => {
    const dead = watch("queue.dead");
    await using it = await work(
      kit.platform,
      {
        handle: async (_, { tx }) => {
          await tx.query("select 1");
          throw new Error("dies before a result is stored");
        },
      },
      { after: 1 },
    );
    await it.queue.send({ id: "k" });
    await it.attempts.until(1);
    const scope = `queue:${it.queue.name}`;
    expect(await ask(kit.platform, "select from tuntas.command where scope = $1", [scope])).toEqual([]);
    dead.close();
  });

  test("idem-03 G-06 another body under a processed key runs nothing, and is told aloud", async () => {
    const reused = watch("worker.key_reused");
    let calls = 0;
    await using it = await work(
      kit.platform,
      { handle: () => void calls++ },
      { message: z.looseObject({ id: z.string() }) as never },
    );
    for (const meta of [1, 2]) {
      await ask(kit.platform, "select tuntas.send($1, $2)", [
        it.queue.name,
        JSON.stringify({ id: "A", meta: { x: meta } }),
      ]);
      await it.attempts.until(meta);
    }
    expect(calls).toBe(1);
    expect(reused.seen).toEqual([{ queue: it.queue.name, key: "A" }]);
    reused.close();
  });

  test("idem-03 key order does not matter under one key: one execution", async () => {
    let calls = 0;
    await using it = await work(
      kit.platform,
      { idempotencyKey: ({ a }: any) => String(a), handle: () => void calls++ },
      { message: z.unknown() as never },
    );
    for (const body of ['{"a":1,"b":{"x":1,"y":2}}', '{"b":{"y":2,"x":1},"a":1}']) {
      await ask(kit.platform, "select tuntas.send($1, $2)", [it.queue.name, body]);
      await it.attempts.until(calls + (body.startsWith('{"b"') ? 1 : 0));
    }
    await it.attempts.until(2);
    expect(calls).toBe(1);
  });
});
