import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { testPlatform } from "../../testing/index.ts";
import type { Platform } from "../../platform.ts";
import { ask } from "../worker/worker.fixture.ts";

test("a message that arrives while its FIFO group is being found empty is not left behind", async () => {
  await using kit = await testPlatform();
  const { platform } = kit;
  const { queue } = await platform.queues.catalog.create(
    { account: "000000000000", region: "us-east-1" },
    "race.fifo",
    {},
  );
  const send = (body: string) =>
    platform.queues.sender.send(
      queue,
      { messageId: randomUUID(), body, groupId: "g", deduplicationId: body },
      "t",
    );
  const receive = () =>
    platform.queues.receiver.receive(queue, { countMax: 10, waitMs: 0, visibilitySeconds: null });
  await send("first");
  await receive();

  // One transaction ends the group's last message and forgets the group; before it commits, the next message comes.
  const ending = await platform.database.dedicatedClient();
  await ending.query("begin");
  await ending.query(`delete from ${kit.schema}.in_flight where queue_id = $1`, [queue.id]);
  await ending.query(`select ${kit.schema}.refresh_groups($1, array['g'])`, [queue.id]);
  const sending = send("second");
  const blocked = `select from pg_locks l join pg_stat_activity a using (pid) where not l.granted and a.query like '%${kit.schema}.append%'`;
  while ((await ask(platform, blocked)).length === 0) await new Promise(setImmediate);
  await ending.query("commit");
  await ending.end();
  await sending;
  expect((await receive()).map(({ body }) => body)).toEqual(["second"]);
});

test("the same where it waits for the lock of the group's row and not for its absence", async () => {
  await using kit = await testPlatform();
  const { platform } = kit;
  const { queue } = await platform.queues.catalog.create(
    { account: "000000000000", region: "us-east-1" },
    "race.fifo",
    {},
  );
  const send = (body: string) =>
    platform.queues.sender.send(
      queue,
      { messageId: randomUUID(), body, groupId: "g", deduplicationId: body },
      "t",
    );
  const receive = () =>
    platform.queues.receiver.receive(queue, { countMax: 10, waitMs: 0, visibilitySeconds: null });
  await send("first");
  await receive();
  const ending = await platform.database.dedicatedClient();
  await ending.query("begin");
  await ending.query(`select from ${kit.schema}.fifo_group where queue_id = $1 for update`, [queue.id]);
  const sending = send("second");
  const blocked = `select from pg_locks l join pg_stat_activity a using (pid) where not l.granted and a.query like '%${kit.schema}.append%'`;
  while ((await ask(platform, blocked)).length === 0) await new Promise(setImmediate);
  await ending.query(`delete from ${kit.schema}.in_flight where queue_id = $1`, [queue.id]);
  await ending.query(`select ${kit.schema}.refresh_groups($1, array['g'])`, [queue.id]);
  await ending.query("commit");
  await ending.end();
  await sending;
  expect((await receive()).map(({ body }) => body)).toEqual(["second"]);
});

test("a FIFO claim that finds a message younger than its own statement also brings its body", async () => {
  await using kit = await testPlatform();
  const { platform } = kit;
  const { queue } = await platform.queues.catalog.create(
    { account: "000000000000", region: "us-east-1" },
    "young.fifo",
    {},
  );
  const { rows } = await snapshotThenClaim(platform, queue.id, () =>
    platform.queues.sender.send(
      queue,
      { messageId: randomUUID(), body: "young", groupId: "g", deduplicationId: "1" },
      "t",
    ),
  );
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
