import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { testPlatform } from "../../testing/index.ts";
import { applyRetention } from "../sweep.ts";
import { defaultScope } from "../contract.ts";
import { insertMove, listMoves } from "./move.ts";
import { forgetExpired } from "./sweep.ts";
import { statement } from "../../pg/database.ts";

test("the last ten move tasks of a queue are kept, and one that runs; those of a queue that is gone are not", async () => {
  await using kit = await testPlatform();
  const { database, queues } = kit.platform;
  const [kept, gone] = [
    (await queues.catalog.create(defaultScope, "kept", {})).queue,
    (await queues.catalog.create(defaultScope, "gone", {})).queue,
  ];
  const end = statement(
    "update tuntas.move_task set status = 'COMPLETED', ended_at = tuntas.now() where id = $1",
  );
  const add = async (sourceQueueId: number, ended: boolean) => {
    const id = randomUUID();
    await insertMove(database, { id, sourceQueueId, destinationQueueId: null, perSecond: 1 });
    if (ended) await database.run(end, [id]);
    return id;
  };
  const ids: string[] = [];
  for (let i = 0; i < 12; i++) ids.unshift(await add(kept.id, true));
  const running = await add(kept.id, false);
  await add(gone.id, true);
  await queues.catalog.delete(gone);
  await forgetExpired(database);
  const left = (await listMoves(database, kept.id, 100)).map(({ id }) => id);
  expect(left).toEqual([running, ...ids.slice(0, 9)]);
  expect(await listMoves(database, gone.id, 100)).toEqual([]);
});

test("what is over is removed however much it is: a sweep does not stop at its first batch", async () => {
  await using kit = await testPlatform();
  const { database, queues, context } = kit.platform;
  const { queue } = await queues.catalog.create(defaultScope, "long", { retentionSeconds: 60 });
  for (let round = 0; round < 3; round++) {
    const messages = Array.from({ length: 500 }, () => ({ messageId: randomUUID(), body: "old" }));
    await queues.sender.sendAll(queue, messages, "test");
  }
  const fill = (text: string) => database.run(statement(`${text} from generate_series(1, 2500) n`));
  const over = "tuntas.now(), tuntas.now() - interval '1 s'";
  await fill(
    `insert into tuntas.command (scope, key, request_hash, created_at, expires_at) select 't', n::text, '', ${over}`,
  );
  await fill(
    `insert into tuntas.fifo_duplicate select ${queue.id}, 't', n::text, gen_random_uuid(), n, tuntas.now() - interval '1 s'`,
  );
  await fill(`insert into tuntas.entity_lock (queue_id, key, id, fence) select ${queue.id}, n::text, 0, 0`);
  await kit.advance(61_000);
  await applyRetention(context);
  for (const table of ["command", "fifo_duplicate", "entity_lock", "ready", "message"])
    expect([
      table,
      await database.run(statement(`select count(*)::int as left from tuntas.${table}`)),
    ]).toEqual([table, [{ left: 0 }]]);
});

test.each([
  ["", null],
  ["", "g"],
  [".fifo", "g"],
])("what was sent while its queue was deleted is swept (queue%s, group %s)", async (suffix, group) => {
  await using kit = await testPlatform();
  const { database, queues, context } = kit.platform;
  const { queue: kept } = await queues.catalog.create(defaultScope, `kept${suffix}`, {});
  const { queue } = await queues.catalog.create(defaultScope, `gone${suffix}`, {});
  const sender = await database.dedicatedClient();
  const append = `select ${database.schema}.append($1, gen_random_uuid(), 'body', null, 't', null, $2, $4, $3)`;
  await sender.query("begin");
  for (const [delay, id] of [
    [0, "ready"],
    [60, "delayed"],
  ])
    for (const { id: queueId } of [kept, queue]) await sender.query(append, [queueId, delay, id, group]);
  await queues.catalog.delete(queue);
  await sender.query("commit");
  await sender.end();
  await applyRetention(context);
  const tables = ["ready", "delayed", ...(suffix ? ["fifo_group"] : [])];
  for (const table of tables) {
    const rows = await database.run(statement(`select queue_id as id from tuntas.${table}`));
    expect(rows, table).toEqual([{ id: kept.id }]);
  }
  expect(await database.run(statement("select 1 as one from tuntas.message"))).toHaveLength(2);
});
