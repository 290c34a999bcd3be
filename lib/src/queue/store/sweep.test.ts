import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { testPlatform } from "../../testing/index.ts";
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
  await database.transaction(forgetExpired);
  const left = (await listMoves(database, kept.id, 100)).map(({ id }) => id);
  expect(left).toEqual([running, ...ids.slice(0, 9)]);
  expect(await listMoves(database, gone.id, 100)).toEqual([]);
});
