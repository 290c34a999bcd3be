// What several senders, receivers and operators do to one queue at once, in two processes.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Platform } from "../../platform.ts";
import { testPlatform, type TestPlatform } from "../../testing/index.ts";
import { defaultScope, type HeldMessage, type QueueRecord, type QueueSettings } from "../contract.ts";
import { encodeReceipt } from "../receipt.ts";
import { ask, freshName } from "../worker/worker.fixture.ts";

let kit: TestPlatform;
let both: Platform[];
beforeAll(async () => {
  kit = await testPlatform();
  both = [kit.platform, await kit.another()];
});
afterAll(() => kit[Symbol.asyncDispose]());

const create = async (settings: QueueSettings = {}, suffix = ""): Promise<QueueRecord> =>
  (await kit.platform.queues.catalog.create(defaultScope, freshName(suffix), settings)).queue;

const message = (queue: QueueRecord, body: string, groupId = "g") => ({
  messageId: randomUUID(),
  body,
  ...(queue.fifo && { groupId, deduplicationId: randomUUID() }),
});
const receive = ({ queues }: Platform, queue: QueueRecord, countMax = 10) =>
  queues.receiver.receive(queue, { countMax, waitMs: 0, visibilitySeconds: null });
const remove = ({ queues }: Platform, queue: QueueRecord, messages: readonly HeldMessage[]) =>
  queues.receipts.deleteAll(queue, messages.map(encodeReceipt));

/** Places of messages whose body is gone; such a message would be claimed again and again, and never received. */
const ghosts = async (queue: QueueRecord) =>
  ask(
    kit.platform,
    `select p.id from (select id, queue_id from tuntas.ready union all select id, queue_id from tuntas.delayed
       union all select id, queue_id from tuntas.held) p
     left join tuntas.message m on m.id = p.id where p.queue_id = $1 and m.id is null`,
    [queue.id],
  );

/** Does each of these in both processes, over and over, until `work` is over. */
async function beside(
  acts: readonly ((platform: Platform) => Promise<unknown>)[],
  work: () => Promise<void>,
) {
  let isOver = false;
  const repeat = async (act: () => Promise<unknown>) => {
    while (!isOver) await act();
  };
  const acting = Promise.all(both.flatMap((platform) => acts.map((act) => repeat(() => act(platform)))));
  await Promise.all([acting, work().finally(() => (isOver = true))]);
}

/** All that is left of the queue, in the order in which it comes; a receive that does not wait may find nothing though something is there. */
async function drain(queue: QueueRecord): Promise<string[]> {
  const bodies: string[] = [];
  for (;;) {
    const messages = await receive(kit.platform, queue);
    if (messages.length === 0 && (await kit.platform.queues.catalog.count(queue)).ready === 0) return bodies;
    bodies.push(...messages.map(({ body }) => body));
    await remove(kit.platform, queue, messages);
  }
}

test("FIFO: two that send to the same groups in opposite orders do not wait for each other", async () => {
  const queue = await create({}, ".fifo");
  const groups = Array.from({ length: 10 }, (_, n) => `g${n}`);
  for (let round = 0; round < 10; round++) {
    const sends = both.map(({ queues }, n) => {
      const order = n === 0 ? groups : groups.toReversed();
      const all = order.map((group) => message(queue, `${group} ${n} ${round}`, group));
      return queues.sender.sendAll(queue, all, "test");
    });
    await Promise.all(sends);
  }
  expect(new Set(await drain(queue)).size).toBe(200);
});

describe.each(["", ".fifo"])("a purge (queue%s)", (suffix) => {
  test("takes what was there, whoever has it in hand, and leaves nothing half there", async () => {
    const queue = await create({ visibilitySeconds: 600 }, suffix);
    let sent = 0;
    const send = async ({ queues }: Platform) => {
      const all = Array.from({ length: 8 }, () => message(queue, `${sent++}`, `g${sent % 5}`));
      await queues.sender.sendAll(queue, all, "test");
    };
    const consume = async (platform: Platform) => {
      const messages = await receive(platform, queue);
      await remove(platform, queue, messages.slice(0, 5));
    };
    const giveBack = async (platform: Platform) => {
      await platform.queues.receiver.giveBack(queue, await receive(platform, queue, 3));
    };
    await beside([send, consume, giveBack], async () => {
      for (let round = 0; round < 3; round++) {
        await kit.advance(61_000);
        const there = (await ask(kit.platform, "select id from tuntas.message")).map(({ id }) => id);
        expect(await kit.platform.queues.catalog.purge(queue)).toBe(true);
        const old = "select id from tuntas.message where id = any($1::bigint[])";
        expect(await ask(kit.platform, old, [there])).toEqual([]);
        expect(await ghosts(queue)).toEqual([]);
      }
    });
    // What was sent since comes, none of it behind a group that was forgotten.
    const { ready, inFlight } = await kit.platform.queues.catalog.count(queue);
    await kit.advance(601_000);
    await kit.platform.context.due.sweep();
    expect(await drain(queue)).toHaveLength(ready + inFlight);
  });
});
