import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { conflict, poison, rejected, retry, unknown } from "../../index.ts";
import { testPlatform, type TestPlatform } from "../../testing/index.ts";
import { ask, freshName, gate, watch, work } from "./worker.fixture.ts";

let kit: TestPlatform;
beforeAll(async () => void (kit = await testPlatform()));
afterAll(() => kit[Symbol.asyncDispose]());

const count = (record: { id: number }) => kit.platform.queues.catalog.count(record as never);
const empty = { ready: 0, inFlight: 0, delayed: 0 };

test("W-01 W-03 a hundred messages are done and gone", async () => {
  const seen = new Set<string>();
  await using it = await work(kit.platform, { handle: ({ id }) => void seen.add(id) });
  await Promise.all(Array.from({ length: 100 }, (_, index) => it.queue.send({ id: `o${index}` })));
  await it.attempts.until(100);
  expect(seen.size).toBe(100);
  expect(it.attempts.seen.every(({ outcome }) => outcome === "done")).toBe(true);
  expect(await count(it.record)).toEqual(empty);
});

test("W-05 Q-12 retries come back after growing, capped, jittered gaps, and succeed once", async () => {
  const gaps: number[] = [];
  const retryable = watch("worker.retryable_failure");
  await using it = await work(
    kit.platform,
    {
      backoff: { base: "1s", max: "4s" },
      handle: (_, { attempt }) => {
        if (attempt < 6) throw new Error("not yet");
      },
    },
    { after: 10 },
  );
  await it.queue.send({ id: "grows" });
  for (let failed = 1; failed <= 5; failed++) {
    await it.attempts.until(failed);
    const [row] = await ask(
      kit.platform,
      `select extract(epoch from due - (select failed_at from tuntas.failure f where f.id = d.id))::float8 as gap
       from tuntas.delayed d where queue_id = $1`,
      [it.record.id],
    );
    gaps.push(row.gap);
    await kit.advance(4000);
  }
  await it.attempts.until(6);
  const steps = [1, 2, 4, 4, 4];
  steps.forEach((step, index) => {
    expect(gaps[index]).toBeGreaterThanOrEqual(step / 2);
    expect(gaps[index]).toBeLessThanOrEqual(step);
  });
  expect(new Set(gaps.map((gap, index) => gap / steps[index]!)).size).toBeGreaterThan(1);
  expect(it.attempts.seen.map(({ outcome }) => outcome)).toEqual([...Array(5).fill("retry"), "done"]);
  expect(retryable.seen).toHaveLength(5);
  expect(await ask(kit.platform, "select from tuntas.failure")).toEqual([]);
  retryable.close();
});

test("a handler's own `after` replaces the backoff, and no wait is longer than a message can live", async () => {
  await using it = await work(kit.platform, {
    handle: (_, { attempt }) => retry({ code: "LATER", after: attempt === 1 ? "90s" : "900000d" }),
  });
  const due = () =>
    ask(
      kit.platform,
      "select extract(epoch from due - tuntas.now())::float8 as s from tuntas.delayed where queue_id = $1",
      [it.record.id],
    );
  await it.queue.send({ id: "later" });
  await it.attempts.until(1);
  expect((await due())[0].s).toBeCloseTo(90, -1);
  await kit.advance(90_000);
  await it.attempts.until(2);
  expect((await due())[0].s).toBeLessThanOrEqual(14 * 86_400);
});

test("a conflict is tried again soon, whether returned or raised by PostgreSQL as 40001", async () => {
  await using it = await work(
    kit.platform,
    {
      handle: (_, { attempt }) => {
        if (attempt === 1) return conflict({ code: "VERSION" });
        if (attempt === 2) throw Object.assign(new Error("could not serialize"), { code: "40001" });
        return undefined;
      },
    },
    { after: 5 },
  );
  await it.queue.send({ id: "c" });
  await it.attempts.until(3);
  expect(it.attempts.seen.map(({ outcome }) => outcome)).toEqual(["conflict", "conflict", "done"]);
});

test("W-09 G-08 a business no ends the message after one receive, with its reason", async () => {
  await using it = await work(kit.platform, {
    handle: () => rejected({ code: "CREDIT_LIMIT", message: "over by 12" }),
  });
  await it.queue.send({ id: "no" });
  await it.attempts.until(1);
  expect(
    await ask(kit.platform, "select code, reason, receives from tuntas.rejection where queue_id = $1", [
      it.record.id,
    ]),
  ).toEqual([{ code: "CREDIT_LIMIT", reason: "over by 12", receives: 1 }]);
  expect(await count(it.record)).toEqual(empty);
});

test("W-06 Q-13 under `quarantine` poison is put aside at once, and counted", async () => {
  const poisons = watch("worker.poison_message");
  await using it = await work(
    kit.platform,
    { handle: () => poison({ code: "BAD" }) },
    { poison: "quarantine" },
  );
  await it.queue.send({ id: "p" });
  await it.attempts.until(1);
  expect(poisons.seen).toHaveLength(1);
  expect(
    await ask(kit.platform, "select outcome, code, body from tuntas.quarantine where queue_id = $1", [
      it.record.id,
    ]),
  ).toEqual([{ outcome: "poison", code: "BAD", body: '{"id":"p"}' }]);
  poisons.close();
});

test("Q-13 Q-03 under `exhaust` the same poison is received until the dead-letter queue has it", async () => {
  const dead = watch("queue.dead");
  await using it = await work(kit.platform, { handle: () => poison({ code: "BAD" }) }, { after: 3 });
  await it.queue.send({ id: "p" });
  await dead.until(1);
  expect(it.attempts.seen.map(({ outcome }) => outcome)).toEqual(["poison", "poison", "poison"]);
  expect(await count(it.deadLetters)).toMatchObject({ ready: 1 });
  const [row] = await ask(
    kit.platform,
    "select code, attempts from tuntas.failure order by failed_at desc limit 1",
  );
  expect(row).toEqual({ code: "BAD", attempts: 3 });
  dead.close();
});

test("W-08 a handler that always throws ends in the dead-letter queue after its bounded attempts", async () => {
  const dead = watch("queue.dead");
  await using it = await work(
    kit.platform,
    {
      backoff: { base: "1s", max: "1s" },
      handle: () => {
        throw new TypeError("of undefined");
      },
    },
    { after: 2 },
  );
  await it.queue.send({ id: "t" });
  await it.attempts.until(1);
  await kit.advance(1000);
  await it.attempts.until(2);
  await kit.advance(1000);
  await dead.until(1);
  expect(it.attempts.seen).toHaveLength(2);
  expect(await count(it.deadLetters)).toMatchObject({ ready: 1 });
  dead.close();
});

test("an unknown effect waits for a person and is not tried again", async () => {
  await using it = await work(kit.platform, { handle: () => unknown({ code: "PAYMENT_UNKNOWN" }) });
  await it.queue.send({ id: "u" });
  await it.attempts.until(1);
  expect(
    await ask(kit.platform, "select outcome from tuntas.quarantine where queue_id = $1", [it.record.id]),
  ).toEqual([{ outcome: "unknown" }]);
});

test("W-04 Q-17 a key that was processed before is acknowledged without running", async () => {
  let calls = 0;
  await using it = await work(kit.platform, { handle: () => void calls++ });
  await it.queue.send({ id: "once" });
  await it.attempts.until(1);
  await it.queue.send({ id: "once" });
  await it.attempts.until(2);
  expect(calls).toBe(1);
  expect(it.attempts.seen.map(({ outcome }) => outcome)).toEqual(["done", "duplicate"]);
  expect(await count(it.record)).toEqual(empty);
});

const send = (record: { id: number }, body: string, attributes: string | null = null) =>
  ask(kit.platform, "select tuntas.append($1, gen_random_uuid(), $2, $3, 'test', null, 0, null, null)", [
    record.id,
    body,
    attributes,
  ]);

test("a message outside the schema is one line in the log, with how often it came and where it goes", async () => {
  const lines: [level: string, text: unknown][] = [];
  const at = (level: string) => (_: unknown, text: unknown) => void lines.push([level, text]);
  const log = { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
  const recording = { ...log, child: () => recording, flush: () => undefined };
  await using own = await testPlatform({ log: recording as never });
  for (const more of [{ after: 5 }, { poison: "quarantine" } as const]) {
    await using it = await work(own.platform, { handle: () => undefined }, more);
    const message = { messageId: crypto.randomUUID(), body: "[]" };
    await own.platform.queues.sender.send(it.record, message, "000000000000");
    await it.attempts.until("after" in more ? more.after : 1);
  }
  const warned = lines.filter(([level]) => level === "warn").map(([, text]) => String(text));
  expect(warned).toEqual([
    expect.stringMatching(
      /expected.*; received 5 times without a pause, since none would mend it; it goes to work-.*-dlq$/,
    ),
    expect.stringMatching(/expected.*; no repetition mends that, so it is put aside in quarantine$/),
  ]);
});

test("W-11 Q-10 five kinds of poison do not fail their batch mates, and each says why", async () => {
  const handled: string[] = [];
  await using it = await work(
    kit.platform,
    {
      idempotencyKey: ({ id }) => (id === "keyless" ? "" : id),
      handle: ({ id }) => void handled.push(id),
    },
    {
      poison: "quarantine",
      message: z.object({ id: z.string(), version: z.number().optional() }) as never,
      versions: ["null", 1],
    },
  );
  for (const body of [
    "{",
    '{"id":5,"version":1}',
    '{"id":"keyless","version":1}',
    '{"id":"x","version":99}',
    '{"id":"\\u0000","version":1}',
  ])
    await send(it.record, body);
  await send(it.record, '{"id":"fine","version":1}', "correlationId is not JSON");
  await it.attempts.until(6);
  expect(handled).toEqual(["fine"]);
  const rows = await ask(
    kit.platform,
    "select code from tuntas.quarantine where queue_id = $1 order by code",
    [it.record.id],
  );
  expect(rows.map(({ code }) => code)).toEqual([
    "TUNTAS_KEY_MISSING",
    "TUNTAS_KEY_MISSING",
    "TUNTAS_MESSAGE_INVALID",
    "TUNTAS_MESSAGE_JSON",
    "TUNTAS_VERSION_UNSUPPORTED",
  ]);
  await it.queue.send({ id: "after", version: 1 } as never);
  await it.attempts.until(7);
  expect(handled).toEqual(["fine", "after"]);
});

test("W-15 W-36 a message without key is poison, and an asynchronous schema that throws is too", async () => {
  const broken = {
    "~standard": { version: 1, vendor: "test", validate: () => Promise.reject(new Error("schema broke")) },
  };
  await using it = await work(
    kit.platform,
    { handle: () => undefined },
    { poison: "quarantine", message: broken as never },
  );
  await send(it.record, '{"id":"x"}');
  await it.attempts.until(1);
  const rows = await ask(kit.platform, "select code, message from tuntas.quarantine where queue_id = $1", [
    it.record.id,
  ]);
  expect(rows).toEqual([
    { code: "TUNTAS_MESSAGE_INVALID", message: "the schema or a key function threw: schema broke" },
  ]);
});

const cycle = (): object => {
  const made: Record<string, unknown> = {};
  made.self = made;
  return made;
};
const hostile = {
  toString() {
    throw new Error("no text");
  },
};
const unreadable = new Proxy(new Error("x"), {
  get() {
    throw new Error("no reading");
  },
});
const thrown: [string, () => unknown][] = [
  ["undefined", () => undefined],
  ["null", () => null],
  ["an object whose toString throws", () => hostile],
  ["an error whose message is a number", () => Object.assign(new Error("x"), { message: 5 })],
  ["an error with a cycle", () => Object.assign(new Error("cyclic"), { request: cycle() })],
  ["an error that cannot be read", () => unreadable],
  ["an error with NUL and half a character", () => new Error("\0 \uD800")],
  ["a symbol", () => Symbol("s")],
  ["a plain object", () => ({ message: 5 })],
];

test.each(thrown)(
  "worker-06 a handler that throws %s ends dead after its attempts, with a readable reason",
  async (_, make) => {
    const dead = watch("queue.dead");
    await using it = await work(
      kit.platform,
      {
        backoff: { base: "1ms", max: "1ms" },
        handle: () => {
          throw make();
        },
      },
      { after: 2 },
    );
    await it.queue.send({ id: "odd" });
    await it.attempts.until(2);
    await dead.until(1);
    const [row] = await ask(
      kit.platform,
      "select code, message from tuntas.failure order by failed_at desc limit 1",
    );
    expect(row.code).not.toBe("");
    expect(row.message).toMatch(/\S/);
    dead.close();
  },
);

test("worker-06 a returned cycle or BigInt is no failure: a worker's result is not stored", async () => {
  await using it = await work(kit.platform, { handle: ({ id }) => (id === "cycle" ? cycle() : { n: 10n }) });
  await it.queue.send({ id: "cycle" });
  await it.queue.send({ id: "bigint" });
  await it.attempts.until(2);
  expect(it.attempts.seen.map(({ outcome }) => outcome)).toEqual(["done", "done"]);
});

test("a handler that never ends is aborted at its timeout, and its place is free again", async () => {
  const aborted = gate<unknown>();
  await using it = await work(kit.platform, {
    timeout: "200ms",
    concurrency: 1,
    handle: ({ id }, { signal }) => {
      if (id !== "stuck") return undefined;
      signal.addEventListener("abort", () => aborted.open(signal.reason));
      return new Promise(() => undefined);
    },
  });
  await it.queue.send({ id: "stuck" });
  await it.queue.send({ id: "next" });
  await it.attempts.until(2);
  // In whichever order the two commits took place.
  expect(it.attempts.seen.map(({ outcome }) => outcome).toSorted()).toEqual(["done", "retry"]);
  expect(await aborted.promise).toMatchObject({ code: "TUNTAS_ATTEMPT_TIMEOUT" });
});

test("an outcome that cannot be written fails its own message, not those that share its statement", async () => {
  await ask(
    kit.platform,
    `create function tuntas.refuse() returns trigger language plpgsql as
     $$ begin if new.key = 'cursed' then raise exception 'refused'; end if; return new; end $$`,
  );
  await ask(
    kit.platform,
    "create trigger refuse before insert on tuntas.command for each row execute function tuntas.refuse()",
  );
  const name = freshName();
  const dead = watch("queue.dead");
  const done = watch("worker.attempt", ({ queue, outcome }) => queue === name && outcome === "done");
  await using it = await work(
    kit.platform,
    { backoff: { base: "1ms", max: "1ms" }, handle: () => undefined },
    { after: 2, name },
  );
  await Promise.all(["a", "cursed", "b", "c"].map((id) => it.queue.send({ id })));
  await Promise.all([dead.until(1), done.until(3)]);
  expect(done.seen).toHaveLength(3);
  expect(await count(it.record)).toEqual(empty);
  await ask(kit.platform, "drop trigger refuse on tuntas.command");
  dead.close();
  done.close();
});

test("worker-11 a key is not held by an attempt that failed, nor by the dead", async () => {
  const dead = watch("queue.dead");
  const name = freshName();
  let fails = 1;
  await using it = await work(
    kit.platform,
    {
      backoff: { base: "1ms", max: "1ms" },
      handle: async (_, { tx }) => {
        await tx.query("select 1");
        if (fails-- > 0) throw new Error("first");
      },
    },
    { after: 2, name },
  );
  await it.queue.send({ id: "u" });
  await it.attempts.until(2);
  fails = 2;
  await it.queue.send({ id: "v" });
  await dead.until(1);
  fails = 0;
  await it.queue.send({ id: "v" });
  await it.attempts.until(5);
  expect(it.attempts.seen.map(({ outcome }) => outcome)).toEqual(["retry", "done", "retry", "retry", "done"]);
  dead.close();
});
