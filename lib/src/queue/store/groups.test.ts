import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { testPlatform } from "../../testing/index.ts";
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
