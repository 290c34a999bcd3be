// A process with a worker of a queue, as the database sees it: what it offers and holds, and when it was last heard of.
import type { HeldMessage, QueueRecord } from "tuntas/queue";
import type { TestPlatform } from "tuntas/testing";
import { statement } from "../../lib/src/pg/database.ts";
import {
  findHandedOver,
  insertOffers,
  readHandedOver,
  removeOffers,
} from "../../lib/src/queue/handover/store.ts";
import { settleDone, settleRetry } from "../../lib/src/queue/store/settle.ts";
import { takeOver } from "../../lib/src/queue/sweep.ts";
import type { Ending } from "./queue.ts";

const beginProcess = statement(
  `insert into tuntas.process (name, host, pid, version, started_at, heartbeat_at, expires_at)
   values ('model', '', 0, '', tuntas.now(), '-infinity', 'infinity') returning id::text`,
);
const beatProcess = statement(`update tuntas.process set heartbeat_at = tuntas.now() where id = $1`);

const failure = { outcome: "retry", code: "NO", message: "no", fingerprint: "no", schemaVersion: null };

export async function openWorker(
  { context, database }: TestPlatform["platform"],
  { id: queueId }: QueueRecord,
) {
  const begin = async () => (await database.run<{ id: string }>(beginProcess))[0]!.id;
  let ownerId = await begin();
  const beat = () => database.run(beatProcess, [ownerId]);
  return {
    beat,
    async rest(): Promise<void> {
      await beat();
      await insertOffers(database, ownerId, "nobody", [queueId]);
    },
    withdraw: () => removeOffers(database, ownerId, [queueId]),
    inHands: async () => readHandedOver(database, ownerId, await findHandedOver(database, ownerId)),
    async settle(message: HeldMessage, ending: Ending): Promise<void> {
      if (ending === "done") await settleDone(database, [message]);
      else await settleRetry(database, [{ ...message, delayMs: 0, ...(ending === "retry" && { failure }) }]);
    },
    /** Another takes its place. */
    async die(): Promise<void> {
      await takeOver(context, [ownerId]);
      ownerId = await begin();
    },
  };
}
