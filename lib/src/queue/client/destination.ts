// Queues as a place where a room above begins work and waits for its end: one message, sent in the caller's transaction and
// known by its number.
import type { Destination } from "../../engine/destination.ts";
import { composeMessage } from "../compose.ts";
import { defaultScope, queueErrors } from "../contract.ts";
import { isGone, readFates } from "../store/fates.ts";
import type { Catalog } from "./catalog.ts";
import type { Sender } from "./send.ts";

export const queueDestination = ({
  catalog,
  sender,
}: {
  readonly catalog: Pick<Catalog, "find">;
  readonly sender: Pick<Sender, "sendIn">;
}): Destination => ({
  async begin(tx, { target, key, group, input }) {
    const queue = await catalog.find(defaultScope, target.name);
    if (!queue) throw queueErrors.error("TUNTAS_QUEUE_MISSING", `queue ${target.name} does not exist`);
    const ordered = queue.fifo ? { groupId: group, deduplicationId: key } : {};
    const message = composeMessage(queue, { body: input, ...ordered });
    return (await sender.sendIn(tx.client, queue, message, defaultScope.account)).id;
  },
  hasEnded: isGone,
  fates: readFates,
});
