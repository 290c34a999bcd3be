// Queues as a place where a room above begins work and waits for its end: one message, sent in the caller's transaction and
// known by its number.
import type { Destination, Order } from "../../engine/destination.ts";
import { composeMessage } from "../compose.ts";
import { defaultScope, queueErrors, type QueueRecord } from "../contract.ts";
import { isGone, readFates } from "../store/fates.ts";
import type { Catalog } from "./catalog.ts";
import type { Sender } from "./send.ts";

/** A queue's name in the default account and region, or its ARN. */
const addressOf = (name: string) => {
  const [, region, account, own] = /^arn:aws[a-z-]*:sqs:([^:]+):(\d{12}):([^:]+)$/.exec(name) ?? [];
  return own === undefined
    ? { scope: defaultScope, name }
    : { scope: { account: account!, region: region! }, name: own };
};

/** A standard queue has no order. */
const orderedBy = ({ fifo }: QueueRecord, { group, key }: Order) =>
  fifo ? { groupId: group, deduplicationId: key } : {};

export const queueDestination = ({
  catalog,
  sender,
}: {
  readonly catalog: Pick<Catalog, "find" | "forget">;
  readonly sender: Pick<Sender, "sendIn">;
}): Destination => ({
  async begin(tx, order) {
    const { scope, name } = addressOf(order.target.name);
    const queue = await catalog.find(scope, name);
    if (!queue) throw queueErrors.error("TUNTAS_QUEUE_MISSING", `queue ${order.target.name} does not exist`);
    const { input: body, attributes, delaySeconds } = order;
    const draft = { body, attributes, delaySeconds, ...orderedBy(queue, order) };
    const message = composeMessage(queue, draft);
    try {
      return (await sender.sendIn(tx.client, queue, message, scope.account)).id;
    } catch (cause) {
      // It may have been deleted and made anew.
      catalog.forget(queue.id);
      throw cause;
    }
  },
  hasEnded: isGone,
  fates(sql, target, numbers) {
    const { scope, name } = addressOf(target);
    return readFates(sql, { scope, name }, numbers);
  },
});
