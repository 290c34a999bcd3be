// What a worker meets that nobody would send on purpose: bodies at the edges of JSON, and messages that are taken away
// while a handler has them. None of it stops the worker, and nothing of a message that is gone is written.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { testPlatform, type TestPlatform } from "../../testing/index.ts";
import { ask, gate, work } from "./worker.fixture.ts";

let kit: TestPlatform;
beforeAll(async () => {
  kit = await testPlatform();
  await ask(kit.platform, "create table tuntas.effect (id text not null)");
});
afterAll(() => kit[Symbol.asyncDispose]());
beforeEach(() => ask(kit.platform, "truncate tuntas.effect"));

const deep = (open: string, close: string, depth = 200_000): string =>
  open.repeat(depth) + close.repeat(depth);
const wide = JSON.stringify(Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`k${n}`, n])));

test.each([
  ["lists in lists", deep("[", "]"), "done"],
  ["objects in objects", deep('{"a":', "}").replace(":}", ":1}"), "done"],
  ["half of lists in lists", "[".repeat(500_000), "poison"],
  ["an object of 50,000 members", wide, "done"],
  ["a text of a megabyte", JSON.stringify("x".repeat(1_048_570)), "done"],
  ["null", "null", "done"],
  ["white space around", " \t\r\n1\n", "done"],
  ["white space alone", " \t\r\n", "poison"],
  ["a byte order mark before", '\uFEFF{"id":"x"}', "poison"],
  ["a number beyond all", "1e999", "done"],
  ["escapes of what text cannot hold", '"\\u0000\\ud800"', "done"],
  ["what JavaScript once took for line ends", '"\u2028\u2029"', "done"],
  ["no JSON but JavaScript", "{id:1}", "poison"],
])("payload: %s comes to an end, and the next message is handled", async (_name, body, outcome) => {
  const next = gate();
  await using it = await work(
    kit.platform,
    { idempotencyKey: "none", handle: (message: unknown) => void (message === "next" && next.open()) },
    { message: z.unknown() as never },
  );
  const { sender } = kit.platform.queues;
  await sender.send(it.record, { messageId: randomUUID(), body }, "test");
  await it.attempts.until(1);
  expect(it.attempts.seen[0]).toMatchObject({ outcome });
  await sender.send(it.record, { messageId: randomUUID(), body: '"next"' }, "test");
  await next.promise;
});

const ways = ["ctx.tx", "ctx.write"] as const;
const ends = ["purged", "deleted with its queue"] as const;

test.each(ways.flatMap((way) => ends.map((end) => [way, end] as const)))(
  "with %s nothing is written for a message that is %s while its handler runs",
  async (way, end) => {
    const inside = gate();
    const goOn = gate();
    await using it = await work(kit.platform, {
      async handle({ id }, context) {
        const effect = [`insert into ${kit.schema}.effect values ($1)`, [id]] as const;
        if (way === "ctx.tx") await context.tx.query(effect[0], [...effect[1]]);
        inside.open();
        await goOn.promise;
        if (way === "ctx.write") context.write(effect[0], [...effect[1]]);
      },
    });
    await it.queue.send({ id: "gone" });
    await inside.promise;
    const { catalog } = kit.platform.queues;
    if (end === "purged") await catalog.purge(it.record);
    else await catalog.delete(it.record);
    goOn.open();
    await it.app.stop(); // waits for what runs
    expect(it.attempts.seen).toEqual([]);
    expect(await ask(kit.platform, "select id from tuntas.effect")).toEqual([]);
    expect(await ask(kit.platform, "select from tuntas.command where key = 'gone'")).toEqual([]);
  },
);
