// Among a hundred handlers one throws, one hangs, one deadlocks and one loses its connection: the other ninety-six
// effects happen once each, and the four end as their outcomes say.
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { testPlatform, type TestPlatform } from "../../testing/index.ts";
import type { Context } from "./context.ts";
import { ask, gate, watch, work } from "./worker.fixture.ts";

let kit: TestPlatform;
beforeAll(async () => {
  kit = await testPlatform();
  await ask(kit.platform, "create table tuntas.effect (id text not null)");
  await ask(kit.platform, "create table tuntas.pair (n int primary key, value int not null)");
});
afterAll(() => kit[Symbol.asyncDispose]());
beforeEach(async () => {
  await ask(kit.platform, "truncate tuntas.effect, tuntas.pair");
  await ask(kit.platform, "insert into tuntas.pair values (1, 0), (2, 0)");
});

const ways: [
  "ctx.tx" | "ctx.write",
  (context: Context, text: string, values?: unknown[]) => Promise<void>,
][] = [
  ["ctx.tx", async ({ tx }, text, values) => void (await tx.query(text, values))],
  ["ctx.write", async (context, text, values) => context.write(text, values)],
];

/** Holds row 2 and then wants row 1, while the handler holds row 1 and wants row 2; one of them is the victim. */
async function rival(locked: () => void, goOn: Promise<void>): Promise<void> {
  const client = await kit.platform.database.dedicatedClient();
  // Its own deadlock check comes late, so that the handler is the one that is chosen.
  await client.query("begin; set local deadlock_timeout = '30s'");
  await client.query(`update ${kit.schema}.pair set value = value + 1 where n = 2`);
  locked();
  await goOn;
  await client.query(`update ${kit.schema}.pair set value = value + 1 where n = 1`);
  await client.query("commit");
  await client.end();
}

test.each(ways)(
  "proof 3: throw, hang, deadlock and a lost connection among 100 handlers, with %s",
  async (_, write) => {
    const dead = watch("queue.dead");
    const done = watch("worker.attempt", ({ outcome }) => outcome === "done");
    const locked = gate();
    const want = gate();
    const rivals = rival(() => locked.open(), want.promise);
    await locked.promise;
    const effect = (context: Context, id: string) =>
      write(context, `insert into ${kit.schema}.effect values ($1)`, [id]);
    const faults: Record<string, (context: Context) => Promise<void>> = {
      throws: async () => {
        throw new Error("always");
      },
      hangs: () => new Promise(() => undefined),
      async deadlocks(context) {
        await write(context, `update ${kit.schema}.pair set value = value + 1 where n = 1`);
        want.open();
        await write(context, `update ${kit.schema}.pair set value = value + 1 where n = 2`);
      },
      async loses(context) {
        if (context.attempt === 1) await write(context, "select pg_terminate_backend(pg_backend_pid())");
      },
    };
    await using it = await work(
      kit.platform,
      {
        timeout: "2s",
        concurrency: 16,
        backoff: { base: "1ms", max: "1ms" },
        async handle({ id }, context) {
          await effect(context, id);
          await faults[id]?.(context);
        },
      },
      { after: 3 },
    );
    const ids = [...Array.from({ length: 96 }, (_, n) => `n${n}`), ...Object.keys(faults)];
    await Promise.all(ids.map((id) => it.queue.send({ id })));
    await done.until(98);
    await dead.until(2);
    await rivals;
    const rows = await ask(kit.platform, "select id, count(*)::int from tuntas.effect group by id");
    expect(rows.filter(({ count }) => count !== 1)).toEqual([]);
    expect(rows.map(({ id }) => id).toSorted()).toEqual(
      ids.filter((id) => id !== "throws" && id !== "hangs").toSorted(),
    );
    const failures = await ask(
      kit.platform,
      "select code, attempts from tuntas.failure where id in (select id from tuntas.ready where queue_id = $1) order by code",
      [it.deadLetters.id],
    );
    expect(failures).toEqual([
      { code: "Error", attempts: 3 },
      { code: "TUNTAS_ATTEMPT_TIMEOUT", attempts: 3 },
    ]);
    expect(await kit.platform.queues.catalog.count(it.record)).toEqual({ ready: 0, inFlight: 0, delayed: 0 });
    done.close();
    dead.close();
  },
);
