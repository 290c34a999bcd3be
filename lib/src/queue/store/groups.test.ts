import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { testPlatform } from "../../testing/index.ts";
import type { Platform } from "../../platform.ts";
import { defaultScope } from "../contract.ts";
import { encodeReceipt } from "../receipt.ts";
import { ask } from "../worker/worker.fixture.ts";

/** A FIFO queue whose messages are all of one group. */
async function makeGroup() {
  const kit = await testPlatform();
  const { platform, schema } = kit;
  const { database, queues } = platform;
  const scope = { account: "000000000000", region: "us-east-1" };
  const { queue } = await queues.catalog.create(scope, "group.fifo", {});
  const ending = await database.dedicatedClient();
  return {
    platform,
    schema,
    queue,
    send: (body: string) =>
      queues.sender.send(queue, { messageId: randomUUID(), body, groupId: "g", deduplicationId: body }, "t"),
    receive: () => queues.receiver.receive(queue, { countMax: 10, waitMs: 0, visibilitySeconds: null }),
    ending,
    async [Symbol.asyncDispose]() {
      await ending.end();
      await kit[Symbol.asyncDispose]();
    },
  };
}

type Group = Awaited<ReturnType<typeof makeGroup>>;

/** Ends the last message of the group and forgets the group, in the transaction that `ending` is in. */
async function forget({ ending, schema, queue }: Group): Promise<void> {
  await ending.query(`delete from ${schema}.in_flight where queue_id = $1`, [queue.id]);
  await ending.query(`select ${schema}.refresh_groups($1, array['g'])`, [queue.id]);
}

/** Sends, as far as a lock that `ending` holds. */
async function sendAndWait({ platform, schema, send }: Group): Promise<{ sending: Promise<unknown> }> {
  const sending = send("second");
  const blocked = `select from pg_locks l join pg_stat_activity a using (pid) where not l.granted and a.query like '%${schema}.append%'`;
  while ((await ask(platform, blocked)).length === 0) await new Promise(setImmediate);
  return { sending };
}

const lockGroup = ({ ending, schema, queue }: Group) =>
  ending.query(`select from ${schema}.fifo_group where queue_id = $1 for update`, [queue.id]);

test.each([
  ["while its FIFO group is being found empty", forget, async () => undefined],
  ["while somebody who will find its group empty has locked it", lockGroup, forget],
])("a message that arrives %s is not left behind", async (_, before, after) => {
  await using group = await makeGroup();
  const { send, receive, ending } = group;
  await send("first");
  await receive();
  await ending.query("begin");
  await before(group);
  const { sending } = await sendAndWait(group);
  await after(group);
  await ending.query("commit");
  await sending;
  expect((await receive()).map(({ body }) => body)).toEqual(["second"]);
});

test("a duplicate leaves no empty group behind", async () => {
  await using group = await makeGroup();
  const { platform, queue, send, receive } = group;
  await send("first");
  await platform.queues.receipts.deleteAll(queue, (await receive()).map(encodeReceipt));
  const groups = "select group_id from tuntas.fifo_group where queue_id = $1";
  expect(await ask(platform, groups, [queue.id])).toEqual([]);
  expect(await send("first")).toMatchObject({ status: "duplicate" });
  expect(await ask(platform, groups, [queue.id])).toEqual([]);
});

test("a FIFO receive that loses a deadlock against a move is made again", async () => {
  await using group = await makeGroup();
  const { platform, schema, queue, send, receive, ending: moving } = group;
  const { catalog } = platform.queues;
  const { queue: dead } = await catalog.create(defaultScope, "dead.fifo", {});
  await catalog.update(queue, { deadLetterName: dead.name, receivesMax: 1, visibilitySeconds: 600 });
  await send("died");
  await ask(platform, "update tuntas.ready set receives = 1 where queue_id = $1", [queue.id]);
  await send("next");
  // What a move from the queue to its dead-letter queue locks, in its order.
  await moving.query("begin; set local deadlock_timeout = '1min'");
  await moving.query(`select ${schema}.lock_groups(array[$1::int], array['g'])`, [dead.id]);
  const receiving = receive();
  const blocked = "select from pg_locks where not granted";
  while ((await ask(platform, blocked)).length === 0) await new Promise(setImmediate);
  await lockGroup(group);
  await moving.query("commit");
  // It may come while the group is still the move's, which nobody waits for.
  const received = [...(await receiving), ...(await receive())];
  expect(received.map(({ body }) => body)).toEqual(["next"]);
  expect(await catalog.count(dead)).toMatchObject({ ready: 1 });
});

test("a FIFO claim that finds a message younger than its own statement also brings its body", async () => {
  await using group = await makeGroup();
  const { platform, queue, send } = group;
  const { rows } = await snapshotThenClaim(platform, queue.id, () => send("young"));
  expect(rows.map(({ body }: { body: string }) => body)).toEqual(["young"]);
});

/** Runs the claim in a statement whose snapshot is taken before `send`: it waits for a lock that we hold meanwhile. */
async function snapshotThenClaim(platform: Platform, queueId: number, send: () => Promise<unknown>) {
  const [holder, claimer] = [
    await platform.database.dedicatedClient(),
    await platform.database.dedicatedClient(),
  ];
  await holder.query("select pg_advisory_lock(4711)");
  const { schema } = platform.database;
  const waiting = claimer.query(
    `with gate as materialized (select pg_advisory_lock(4711)), claimed as materialized (
       select (l.held).id from gate, ${schema}.claim_fifo($1, 10, null, null, nextval('${schema}.fence')) l)
     select m.body from claimed l cross join lateral ${schema}.message_of(l.id) m`,
    [queueId],
  );
  const blocked = "select from pg_locks where locktype = 'advisory' and objid = 4711 and not granted";
  while ((await ask(platform, blocked)).length === 0) await new Promise(setImmediate);
  await send();
  await holder.query("select pg_advisory_unlock(4711)");
  const result = await waiting;
  await Promise.all([holder.end(), claimer.end()]);
  return result;
}
