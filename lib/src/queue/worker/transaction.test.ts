import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { testPlatform, type TestPlatform } from "../../testing/index.ts";
import type { Context } from "./context.ts";
import { askRows } from "../../pg/burst.ts";
import { acknowledgement } from "../store/settle.ts";
import { isTransactionControl } from "../../engine/handler/control.ts";
import { ask, gate, watch, work } from "./worker.fixture.ts";

let kit: TestPlatform;
let effects: string;
beforeAll(async () => {
  kit = await testPlatform({ handlerConnectionsMax: 8 });
  effects = `${kit.schema}.effect`;
  await ask(kit.platform, "create table tuntas.effect (id text primary key, note text)");
  await ask(kit.platform, "create table tuntas.deferred (id text unique deferrable initially deferred)");
});
afterAll(() => kit[Symbol.asyncDispose]());
beforeEach(() => ask(kit.platform, "truncate tuntas.effect, tuntas.deferred"));

const rows = () => ask(kit.platform, "select id, note from tuntas.effect order by id");
const count = (record: { id: number }) => kit.platform.queues.catalog.count(record as never);
const empty = { ready: 0, inFlight: 0, delayed: 0 };
const insert = () => `insert into ${effects} values ($1, $2)`;

/** The two ways to write: in a transaction of the attempt's own, and handed over. */
const ways: [string, (context: Context, text: string, values?: unknown[]) => Promise<void>][] = [
  ["ctx.tx", async ({ tx }, text, values) => void (await tx.query(text, values))],
  ["ctx.write", async (context, text, values) => context.write(text, values)],
];

test.each(ways)(
  "G-03 W-03 %s: the effect, the command record and the acknowledgement are one commit",
  async (_, write) => {
    await using it = await work(kit.platform, {
      handle: ({ id }, context) => write(context, insert(), [id, "done"]),
    });
    await it.queue.send({ id: "a" });
    await it.attempts.until(1);
    const stamps = await ask(
      kit.platform,
      `select (select xmin::text from tuntas.effect) = (select xmin::text from tuntas.command where key = 'a' and scope = $1) as together`,
      [`queue:${it.queue.name}`],
    );
    expect(stamps).toEqual([{ together: true }]);
    expect(await count(it.record)).toEqual(empty);
  },
);

test.each(ways)(
  "W-14 %s: a failure after the write leaves nothing, and the retry writes once",
  async (_, write) => {
    await using it = await work(kit.platform, {
      backoff: { base: "1ms", max: "1ms" },
      handle: async ({ id }, context) => {
        await write(context, insert(), [id, String(context.attempt)]);
        if (context.attempt === 1) throw new Error("after the write");
      },
    });
    await it.queue.send({ id: "a" });
    await it.attempts.until(2);
    expect(await rows()).toEqual([{ id: "a", note: "2" }]);
  },
);

test.each(ways)(
  "W-13 %s: one effect under sixty overlapping duplicates in two processes",
  async (_, write) => {
    const other = await kit.another();
    const handle = ({ id }: { id: string }, context: Context) =>
      write(context, `insert into ${effects} values ($1 || '-' || gen_random_uuid(), $2)`, [
        id,
        context.messageId,
      ]);
    await using it = await work(kit.platform, { handle, concurrency: 8 }, { after: 3 });
    await using twin = await work(other, { handle, concurrency: 8 }, { after: 3, name: it.queue.name });
    await Promise.all(Array.from({ length: 60 }, (_, index) => it.queue.send({ id: `k${index % 3}` })));
    await it.attempts.until(60);
    expect(
      await ask(
        kit.platform,
        "select left(id, 2) as key, count(*)::int from tuntas.effect group by 1 order by 1",
      ),
    ).toEqual(["k0", "k1", "k2"].map((key) => ({ key, count: 1 })));
    const endings = it.attempts.seen.filter(({ outcome }) => outcome === "done" || outcome === "duplicate");
    expect(endings).toHaveLength(60);
    expect(await count(it.record)).toEqual(empty);
    expect(await count(it.deadLetters)).toEqual(empty);
    void twin;
  },
);

test("W-13 a duplicate that waits longer than its receives is acknowledged, not dead", async () => {
  const held = gate();
  let running = 0;
  await using it = await work(
    kit.platform,
    {
      handle: async ({ id }, { tx }) => {
        running++;
        await tx.query(insert(), [id, "once"]);
        await held.promise;
      },
    },
    { after: 2 },
  );
  const promoted = watch("queue.promoted", ({ queueId }) => queueId === it.record.id);
  await it.queue.send({ id: "slow" });
  await it.queue.send({ id: "slow" });
  await promoted.until(4); // it came back four times, and two receives are all that the queue allows
  held.open();
  await it.attempts.until(2);
  expect(running).toBe(1);
  expect(it.attempts.seen.map(({ outcome }) => outcome).toSorted()).toEqual(["done", "duplicate"]);
  expect(await count(it.deadLetters)).toEqual(empty);
  promoted.close();
});

test("W-26 a late owner's commit is refused by the fence and changes nothing", async () => {
  const inside = gate();
  const goOn = gate();
  await using it = await work(kit.platform, {
    idempotencyKey: "none",
    handle: async ({ id }, context) => {
      if (context.attempt > 1) return context.write(insert(), [`${id}-second`, ""]);
      await context.tx.query(insert(), [`${id}-first`, ""]);
      inside.open();
      await goOn.promise;
    },
  });
  await it.queue.send({ id: "x" });
  await inside.promise;
  // What a take-over does: the message is ready again and belongs to nobody.
  await ask(
    kit.platform,
    `with gone as (delete from tuntas.in_flight where queue_id = $1 returning *)
     insert into tuntas.ready (queue_id, turn, id, receives, sent_at, first_received_at)
     select queue_id, turn, id, receives, sent_at, first_received_at from gone`,
    [it.record.id],
  );
  await it.attempts.until(1);
  goOn.open();
  await it.app.stop();
  expect(await rows()).toEqual([{ id: "x-second", note: "" }]);
  expect(it.attempts.seen.map(({ outcome }) => outcome)).toEqual(["done"]);
});

const controls = [
  "begin",
  "COMMIT",
  " end ",
  "rollback",
  "rollback work",
  "abort",
  "start transaction",
  "select 1; commit",
  "/* hidden */ commit",
  "-- line\ncommit",
  "prepare transaction 'x'",
];
const innocent = [
  "select 'commit'",
  "savepoint a",
  "rollback to savepoint a",
  "rollback to a",
  "release savepoint a",
  "select 1 as begin_at",
  'select ";commit" from t',
  "do $$ begin perform 1; end $$",
  "select case when true then 1 end",
];

test("transaction control is told from what only looks like it", () => {
  expect(controls.filter((text) => !isTransactionControl(text))).toEqual([]);
  expect(innocent.filter((text) => isTransactionControl(text))).toEqual([]);
});

test("ctx.tx refuses transaction control with a coded error; savepoints are fine", async () => {
  const refused: unknown[] = [];
  await using it = await work(kit.platform, {
    handle: async ({ id }, { tx, write }) => {
      void write;
      await tx.query(insert(), [id, "kept"]);
      for (const text of ["commit", "rollback", "select 1; end"])
        await tx.query(text).catch((cause: { code: string }) => refused.push(cause.code));
      await tx.query("savepoint mine");
      await tx.query(insert(), [id, "twice"]).catch(() => tx.query("rollback to savepoint mine"));
      await tx.query("release savepoint mine");
    },
  });
  await it.queue.send({ id: "s" });
  await it.attempts.until(1);
  expect(refused).toEqual(Array(3).fill("TUNTAS_TX_CONTROL"));
  expect(it.attempts.seen[0]).toMatchObject({ outcome: "done" });
  expect(await rows()).toEqual([{ id: "s", note: "kept" }]);
});

test("ctx.write refuses transaction control and savepoints", async () => {
  const refused: string[] = [];
  await using it = await work(kit.platform, {
    handle: (_, context) => {
      for (const text of ["commit", "savepoint job", "rollback to savepoint job", "select 1; release job"]) {
        try {
          context.write(text);
        } catch (cause) {
          refused.push((cause as { code: string }).code);
        }
      }
    },
  });
  await it.queue.send({ id: "s" });
  await it.attempts.until(1);
  expect(refused).toEqual(Array(4).fill("TUNTAS_TX_CONTROL"));
});

test("ctx.tx and ctx.write after the end are refused, also where ctx.tx was never used before", async () => {
  const contexts: Context[] = [];
  await using it = await work(kit.platform, {
    handle: async (_, context) => {
      contexts.push(context);
      if (contexts.length === 2) await context.tx.query("select 1");
    },
  });
  await it.queue.send({ id: "1" });
  await it.attempts.until(1);
  await it.queue.send({ id: "2" });
  await it.attempts.until(2);
  for (const context of contexts) {
    await expect(context.tx.query("select 1")).rejects.toMatchObject({ code: "TUNTAS_TX_CLOSED" });
    expect(() => context.write("select 1")).toThrow(expect.objectContaining({ code: "TUNTAS_TX_CLOSED" }));
  }
});

test("attempts that time out inside a statement give their connections back", async () => {
  await using it = await work(
    kit.platform,
    {
      timeout: "200ms",
      backoff: { base: "1ms", max: "1ms" },
      handle: async ({ id }, { tx, attempt }) => {
        if (attempt === 1) await tx.query("select pg_sleep(600)");
        await tx.query(insert(), [id, "second"]);
      },
    },
    { after: 50 },
  );
  const done = watch("worker.attempt", ({ queue, outcome }) => queue === it.queue.name && outcome === "done");
  // More than the pool has connections: a leak would stop the last ones.
  await Promise.all(Array.from({ length: 12 }, (_, index) => it.queue.send({ id: `t${index}` })));
  // A second one may be late as well, where the machine is busy.
  await done.until(12);
  expect(await rows()).toHaveLength(12);
  done.close();
});

test.each(ways)("%s: a failing statement fails its own message only", async (_, write) => {
  await using it = await work(
    kit.platform,
    {
      backoff: { base: "1ms", max: "1ms" },
      handle: ({ id }, context) => write(context, insert(), [id === "bad" ? null : id, ""]),
    },
    { after: 1 },
  );
  const dead = watch("queue.dead");
  await Promise.all(["a", "bad", "b", "c"].map((id) => it.queue.send({ id })));
  await it.attempts.until(4);
  await dead.until(1);
  expect((await rows()).map(({ id }) => id)).toEqual(["a", "b", "c"]);
  dead.close();
});

test.each(ways)("%s: a constraint that fails at the commit fails its own message only", async (_, write) => {
  const dead = watch("queue.dead");
  await using it = await work(
    kit.platform,
    {
      backoff: { base: "1ms", max: "1ms" },
      handle: async ({ id }, context) => {
        await write(context, insert(), [id, ""]);
        const text = `insert into ${kit.schema}.deferred values ($1)`;
        await write(context, text, [id]);
        if (id === "bad") await write(context, text, [id]);
      },
    },
    { after: 2 },
  );
  await Promise.all(["a", "bad", "b", "c"].map((id) => it.queue.send({ id })));
  await dead.until(1);
  expect((await rows()).map(({ id }) => id)).toEqual(["a", "b", "c"]);
  dead.close();
});

test.each(ways)("%s: values that cannot be sent fail their own message only", async (_, write) => {
  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;
  await using it = await work(
    kit.platform,
    { handle: ({ id }, context) => write(context, insert(), [id, id === "bad" ? cyclic : ""]) },
    { after: 1 },
  );
  const dead = watch("queue.dead");
  await Promise.all(["a", "bad", "b"].map((id) => it.queue.send({ id })));
  await it.attempts.until(3);
  await dead.until(1);
  expect((await rows()).map(({ id }) => id)).toEqual(["a", "b"]);
  dead.close();
});

test("ctx.write: what a lost fence left prepared on every session harms nobody who is run again", async () => {
  await using it = await work(
    kit.platform,
    { handle: ({ id }, context) => context.write(insert(), [id === "bad" ? null : id, ""]) },
    { after: 1 },
  );
  const { database } = kit.platform;
  const clients = await Promise.all(Array.from({ length: 8 }, () => database.handlerClient()));
  const { statement, values } = acknowledgement({ queueId: it.record.id, id: "0", fence: "0" });
  for (const client of clients) {
    await expect(askRows(client, database.bind(statement, values))).rejects.toMatchObject({ code: "22012" });
    client.release();
  }
  const dead = watch("queue.dead");
  await Promise.all(["a", "bad", "b"].map((id) => it.queue.send({ id })));
  await it.attempts.until(3);
  await dead.until(1);
  expect((await rows()).map(({ id }) => id)).toEqual(["a", "b"]);
  dead.close();
});

test("ctx.tx: a statement that failed under a name can be asked again in the driver's own way", async () => {
  const answers: unknown[] = [];
  await using it = await work(kit.platform, {
    handle: async (_, { tx }) => {
      const named = (by: number) => ({ name: "divided", text: "select 6 / $1::int as n", values: [by] });
      await tx.query("savepoint before");
      await tx.query(named(0)).catch(() => tx.query("rollback to savepoint before"));
      await new Promise<void>((resolve, reject) =>
        (tx as any).query(named(2), (cause: unknown, result: { rows: unknown[] }) => {
          answers.push(result?.rows);
          if (cause) reject(cause as Error);
          else resolve();
        }),
      );
    },
  });
  await it.queue.send({ id: "named" });
  await it.attempts.until(1);
  expect(it.attempts.seen[0]).toMatchObject({ outcome: "done" });
  expect(answers).toEqual([[{ n: 3 }]]);
});

test("ctx.tx and ctx.write together are one commit, and one undo", async () => {
  await using it = await work(
    kit.platform,
    {
      backoff: { base: "1ms", max: "1ms" },
      handle: async ({ id }, context) => {
        await context.tx.query(insert(), [`${id}-tx`, ""]);
        context.write(insert(), [context.attempt === 1 ? null : `${id}-write`, ""]);
      },
    },
    { after: 3 },
  );
  await it.queue.send({ id: "both" });
  await it.attempts.until(2);
  expect((await rows()).map(({ id }) => id)).toEqual(["both-tx", "both-write"]);
});

test("the shapes in which Drizzle, Kysely and Knex call a pg client all join the transaction", async () => {
  const results: unknown[] = [];
  await using it = await work(kit.platform, {
    handle: async ({ id }, { tx }) => {
      const client = tx as any;
      await client.query(insert(), [`${id}-kysely`, ""]);
      const drizzle = { name: "d1", text: `select id from ${effects} where id = $1`, rowMode: "array" };
      results.push((await client.query(drizzle, [`${id}-kysely`])).rows);
      results.push((await client.query({ text: "select $1::int as n", values: [7] })).rows);
      await new Promise<void>((resolve, reject) =>
        client.query({ text: insert(), values: [`${id}-knex`, ""] }, (cause: unknown) =>
          cause ? reject(cause) : resolve(),
        ),
      );
    },
  });
  await it.queue.send({ id: "orm" });
  await it.attempts.until(1);
  expect(it.attempts.seen[0]).toMatchObject({ outcome: "done" });
  expect(results).toEqual([[["orm-kysely"]], [{ n: 7 }]]);
  expect((await rows()).map(({ id }) => id)).toEqual(["orm-kysely", "orm-knex"].toSorted());
});

test("a handler that swallows the error of a statement does not commit half of its work", async () => {
  await using it = await work(
    kit.platform,
    {
      handle: async ({ id }, { tx }) => {
        await tx.query(insert(), [id, "half"]);
        await tx.query("select 1 / 0").catch(() => undefined);
      },
    },
    { after: 1 },
  );
  const dead = watch("queue.dead");
  await it.queue.send({ id: "h" });
  await dead.until(1);
  expect(await rows()).toEqual([]);
  dead.close();
});

test.each(ways)(
  "%s: a statement that nobody awaits does not outlive the attempt's time",
  async (_, write) => {
    const dead = watch("queue.dead");
    await using it = await work(
      kit.platform,
      {
        timeout: "3s",
        backoff: { base: "1ms", max: "1ms" },
        handle: async ({ id }, context) => {
          if (id === "slow") void write(context, "select pg_sleep(600)").catch(() => undefined);
          await write(context, insert(), [id, ""]).catch(() => undefined);
        },
      },
      { after: 1 },
    );
    await Promise.all(["a", "slow", "b"].map((id) => it.queue.send({ id })));
    await it.attempts.until(3);
    await dead.until(1);
    expect((await rows()).map(({ id }) => id)).toEqual(["a", "b"]);
    dead.close();
  },
);
