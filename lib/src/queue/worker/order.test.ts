import { afterAll, beforeAll, expect, test } from "vitest";
import { testPlatform, type TestPlatform } from "../../testing/index.ts";
import { ask, freshName, gate, watch, work } from "./worker.fixture.ts";
import { z } from "zod";

let kit: TestPlatform;
beforeAll(async () => void (kit = await testPlatform()));
afterAll(() => kit[Symbol.asyncDispose]());

const count = (record: { id: number }) => kit.platform.queues.catalog.count(record as never);
const empty = { ready: 0, inFlight: 0, delayed: 0 };
const step = z.object({ id: z.string(), entity: z.string().optional() });

/** How many run at once, now and at most. */
function meter() {
  let now = 0;
  let max = 0;
  return {
    max: () => max,
    async during<T>(run: () => Promise<T>): Promise<T> {
      max = Math.max(max, ++now);
      return run().finally(() => now--);
    },
  };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test("W-19 messages with an equal lock run one after another in two processes, others beside them", async () => {
  const other = await kit.another();
  const meters = { a: meter(), b: meter(), all: meter() };
  const handle = ({ entity }: any) =>
    meters.all.during(() =>
      meters[entity as "a" | "b"].during(async () => {
        for (let i = 0; i < 20; i++) await turn();
      }),
    );
  const options = { handle, lock: ({ entity }: any) => entity, concurrency: 4 };
  await using it = await work(kit.platform, options, { after: 1, message: step as never });
  await using twin = await work(other, options, { after: 1, message: step as never, name: it.queue.name });
  await Promise.all(
    Array.from({ length: 16 }, (_, n) => it.queue.send({ id: `${n}`, entity: n % 2 ? "a" : "b" } as never)),
  );
  await it.attempts.until(16);
  expect(meters.a.max()).toBe(1);
  expect(meters.b.max()).toBe(1);
  expect(it.attempts.seen.every(({ outcome }) => outcome === "done")).toBe(true);
  expect(await count(it.deadLetters)).toEqual(empty); // waiting for a lock uses up no receive
  void twin;
});

test("W-19 a failed holder, and one that was taken over, no longer hold the lock", async () => {
  const inside = gate();
  const goOn = gate();
  const seen: string[] = [];
  await using it = await work(
    kit.platform,
    {
      lock: () => "one",
      backoff: { base: "1h", max: "1h" },
      handle: async ({ id }) => {
        seen.push(id);
        if (id === "fails") throw new Error("failed");
        if (id !== "robbed") return;
        inside.open();
        await goOn.promise;
      },
    },
    { after: 3 },
  );
  await it.queue.send({ id: "fails" });
  await it.attempts.until(1);
  await it.queue.send({ id: "robbed" });
  await inside.promise;
  await ask(kit.platform, "delete from tuntas.in_flight where queue_id = $1", [it.record.id]);
  await it.queue.send({ id: "next" });
  await it.attempts.until(2);
  expect(seen).toEqual(["fails", "robbed", "next"]);
  goOn.open();
  await ask(kit.platform, "select tuntas.forget_entity_locks(100)");
  expect(await ask(kit.platform, "select from tuntas.entity_lock")).toEqual([]);
});

test("Q-07 FIFO workers keep each case's order while cases run side by side, in two processes", async () => {
  const other = await kit.another();
  const seen = new Map<string, number[]>();
  const cases = meter();
  const perCase = new Map<string, ReturnType<typeof meter>>();
  const handle = ({ id }: { id: string }, { groupId }: { groupId: string | undefined }) => {
    const mine = perCase.get(groupId!) ?? meter();
    perCase.set(groupId!, mine);
    return cases.during(() =>
      mine.during(async () => {
        seen.set(groupId!, [...(seen.get(groupId!) ?? []), Number(id.split("-")[1])]);
        await turn();
      }),
    );
  };
  const name = freshName(".fifo");
  await using it = await work(kit.platform, { handle }, { name });
  await using twin = await work(other, { handle }, { name });
  for (let n = 0; n < 20; n++)
    await Promise.all(
      Array.from({ length: 10 }, (_, group) =>
        it.queue.send(
          { id: `${group}-${n}` },
          { groupId: `case-${group}`, deduplicationId: `${group}-${n}` },
        ),
      ),
    );
  await it.attempts.until(200);
  const ordered = Array.from({ length: 20 }, (_, n) => n);
  expect([...seen.values()]).toEqual(Array(10).fill(ordered));
  expect([...perCase.values()].map((each) => each.max())).toEqual(Array(10).fill(1));
  expect(cases.max()).toBeGreaterThan(1);
  void twin;
});

test("Q-06 Q-07 a FIFO message that is tried again blocks its group, and no other", async () => {
  const seen: string[] = [];
  const name = freshName(".fifo");
  await using it = await work(
    kit.platform,
    {
      backoff: { base: "60s", max: "60s" },
      handle: ({ id }, { attempt }) => {
        seen.push(id);
        if (id === "a1" && attempt === 1) throw new Error("not yet");
      },
    },
    { name },
  );
  const send = (id: string) => it.queue.send({ id }, { groupId: id[0]!, deduplicationId: id });
  await send("a1");
  await it.attempts.until(1);
  await send("a2");
  await send("b1");
  await it.attempts.until(2);
  expect(seen).toEqual(["a1", "b1"]);
  await kit.advance(60_000);
  await it.attempts.until(4);
  expect(seen).toEqual(["a1", "b1", "a1", "a2"]);
});

test.each([8, 3])(
  "W-27 globalConcurrency is never exceeded by two processes together (%i each)",
  async (concurrency) => {
    const other = await kit.another();
    const all = meter();
    const options = {
      concurrency,
      globalConcurrency: 3,
      handle: () =>
        all.during(async () => {
          for (let i = 0; i < 10; i++) await turn();
        }),
    };
    await using it = await work(kit.platform, options);
    await using twin = await work(other, options, { name: it.queue.name });
    await Promise.all(Array.from({ length: 60 }, (_, n) => it.queue.send({ id: `${n}` })));
    await it.attempts.until(60);
    expect(all.max()).toBeLessThanOrEqual(3);
    void twin;
  },
);

test("W-27 what one process holds ahead keeps no other from its share of a capped queue", async () => {
  const other = await kit.another();
  const all = meter();
  const options = (handle: () => Promise<void>) => ({
    concurrency: 2,
    globalConcurrency: 4,
    handle: () => all.during(handle),
  });
  let ofTwin = 0;
  const brief = () => new Promise<void>((resolve) => setTimeout(resolve, 2));
  await using it = await work(kit.platform, options(brief));
  await Promise.all(Array.from({ length: 600 }, (_, n) => it.queue.send({ id: `${n}` })));
  await it.attempts.until(100);
  await using twin = await work(
    other,
    options(async () => {
      ofTwin++;
      await brief();
    }),
    { name: it.queue.name },
  );
  await it.attempts.until(600);
  expect(ofTwin).toBeGreaterThan(50);
  expect(all.max()).toBeLessThanOrEqual(4);
  void twin;
});

test("W-31 active() shows what runs and what waits", async () => {
  const goOn = gate();
  const inside = watch("queue.received");
  await using it = await work(kit.platform, { concurrency: 2, handle: () => goOn.promise });
  await Promise.all(["1", "2", "3"].map((id) => it.queue.send({ id })));
  await inside.until(1);
  let active = it.app.active()[0]!;
  while (active.running + active.buffered < 3) {
    await turn();
    active = it.app.active()[0]!;
  }
  expect(active).toEqual({ queue: it.queue.name, running: 2, buffered: 1, places: 2 });
  goOn.open();
  await it.attempts.until(3);
  inside.close();
});

test("Q-21 a paused queue is not worked on, and goes on when it is resumed", async () => {
  await using it = await work(kit.platform, { handle: () => undefined });
  const { catalog } = kit.platform.queues;
  await catalog.pause(it.record, "ada", "a test");
  await it.queue.send({ id: "waits" });
  const other = await work(kit.platform, { handle: () => undefined });
  await other.queue.send({ id: "runs" });
  await other.attempts.until(1);
  expect(it.attempts.seen).toEqual([]);
  expect(await count(it.record)).toMatchObject({ ready: 1 });
  await catalog.resume(it.record, "ada", "a test");
  await it.attempts.until(1);
  await other[Symbol.asyncDispose]();
});

test("W-32 U-02 a stop lets what runs finish, gives back what waits without counting a receive, and takes nothing new", async () => {
  const goOn = gate();
  let started = 0;
  const received = watch("queue.received");
  const it = await work(kit.platform, {
    concurrency: 2,
    handle: async ({ id }, { tx }) => {
      started++;
      await tx.query("select $1::text", [id]);
      await goOn.promise;
    },
  });
  for (const id of ["1", "2", "3", "4"]) await it.queue.send({ id });
  await received.until(1);
  while (it.app.active()[0]!.running < 2 || it.app.active()[0]!.buffered === 0) await turn();
  const stopped = it.app.stop();
  const back = await (async () => {
    for (;;) {
      const rows = await ask(kit.platform, "select receives from tuntas.ready where queue_id = $1", [
        it.record.id,
      ]);
      if (rows.length === 2) return rows;
    }
  })();
  expect(back).toEqual([{ receives: 0 }, { receives: 0 }]);
  goOn.open();
  await stopped;
  expect(started).toBe(2);
  expect(await count(it.record)).toEqual({ ready: 2, inFlight: 0, delayed: 0 });
  expect(it.attempts.seen.map(({ outcome }) => outcome)).toEqual(["done", "done"]);
  await it[Symbol.asyncDispose]();
  received.close();
});

test("W-32 at the deadline, and at a second stop, what still runs is aborted and given back at once", async () => {
  const inside = gate();
  const aborted = gate<string>();
  const it = await work(kit.platform, {
    handle: (_, { signal }) =>
      new Promise(() => {
        signal.addEventListener("abort", () => aborted.open(signal.reason.message));
        inside.open();
      }),
  });
  await it.queue.send({ id: "endless" });
  await inside.promise;
  const first = it.app.stop();
  await Promise.all([first, it.app.stop()]);
  expect(await aborted.promise).toBe("the process stops");
  expect(await count(it.record)).toEqual({ ready: 1, inFlight: 0, delayed: 0 });
  expect(
    await ask(kit.platform, "select receives from tuntas.ready where queue_id = $1", [it.record.id]),
  ).toEqual([{ receives: 0 }]);
});
