// The shop's streams: one that is read on time, one that is read by all who have trouble with it, and one that nobody reads.
import { z } from "zod";
import { app, consumer, poison, rejected, start, stream, type Platform } from "tuntas";

const orderEvent = z.object({
  orderId: z.string(),
  event: z.enum(["placed", "paid", "shipped"]),
  amount: z.number(),
  customerId: z.string().meta({ sensitive: true }),
});
type OrderEvent = z.infer<typeof orderEvent>;

export const orderEvents = stream("order-events", {
  record: orderEvent,
  partitions: 8,
  key: "order id: what happens to an order is seen in its order",
  retention: "7d",
  owner: "orders-team",
  runbook: "runbooks/order-events.md",
});
const priceChanges = stream("price-changes", {
  record: z.object({ article: z.string(), price: z.number() }),
  partitions: 4,
  key: "article: the latest price wins",
  retention: "30d",
  owner: "catalogue-team",
  runbook: "runbooks/price-changes.md",
});
const pageViews = stream("page-views", {
  record: z.object({ visitor: z.string(), page: z.string() }),
  partitions: 2,
  key: "visitor: a visit is one path",
  retention: "1d",
  owner: "web-team",
  runbook: "runbooks/page-views.md",
});

const settings = {
  from: "start",
  batch: 20,
  retry: { attempts: 3, base: "10ms", max: "20ms" },
  timeout: "10m",
  lagWithin: "1m",
} as const;

/** Whether the status of an order knows what to do with a late order by now. */
export const late = { isMended: false };

/** An order that is shipped before it is paid is one that the status of an order knows nothing of. */
const orderStatus = consumer(orderEvents, {
  ...settings,
  name: "order-status",
  onBadRecord: "stop",
  handle: ({ value: { event, amount } }) =>
    event === "shipped" && amount === 0 && !late.isMended
      ? rejected({ code: "STATUS_UNKNOWN", message: "the order was shipped before it was paid" })
      : undefined,
});
const auditTrail = consumer(orderEvents, {
  ...settings,
  name: "audit-trail",
  onBadRecord: "park",
  handle({ value: { amount, orderId } }) {
    if (amount < 0)
      return poison({ code: "AMOUNT_NEGATIVE", message: `order ${orderId} has an amount below 0` });
    if (orderId === "ord-2013")
      throw Object.assign(new Error("the ledger is closed"), { code: "LEDGER_CLOSED" });
    return undefined;
  },
});
/** It has not come back from its first record. */
const searchIndex = consumer(orderEvents, {
  ...settings,
  name: "search-index",
  onBadRecord: "park",
  lagWithin: "1s",
  handle: (_, { signal }) =>
    new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined), { once: true })),
});
const priceCache = consumer(priceChanges, {
  ...settings,
  name: "price-cache",
  onBadRecord: "park",
  handle: () => undefined,
});
/** Declared, and run by no process. */
const sessions = consumer(pageViews, {
  ...settings,
  name: "sessions",
  onBadRecord: "park",
  handle: () => undefined,
});

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

const happens = (orderId: string, event: OrderEvent["event"], amount: number) =>
  orderEvents.append({ orderId, event, amount, customerId: `cust-${orderId.slice(-1)}` }, { key: orderId });

async function append(): Promise<void> {
  await Promise.all([
    ...numbers(40).map((number) => happens(`ord-${2000 + number}`, "placed", 10 + number)),
    ...numbers(6).map((number) =>
      priceChanges.append({ article: `art-${number}`, price: 5 }, { key: `art-${number}` }),
    ),
    ...numbers(9).map((number) =>
      pageViews.append({ visitor: `v-${number}`, page: "/" }, { key: `v-${number}` }),
    ),
  ]);
  await Promise.all([
    happens("ord-2003", "shipped", 0),
    ...["ord-2004", "ord-2017"].map((orderId) => happens(orderId, "paid", -1)),
  ]);
}

/** What nobody reads has been there for a while. */
const growOld = ({ database }: Platform) =>
  database.transaction(async ({ client }) => {
    const { schema } = database;
    const { rows } = await client.query(`select id, segment from ${schema}.stream where name = $1`, [
      pageViews.name,
    ]);
    const [{ id, segment }] = rows;
    await client.query(
      `update ${schema}.stream_record_${id}_${segment} set appended_at = appended_at - interval '12 minutes'`,
    );
  });

/** Appends, and lets each consumer come as far as it comes. */
export async function openStreams(platform: Platform): Promise<AsyncDisposable> {
  const parts = { orderEvents, orderStatus, auditTrail, searchIndex, priceChanges, priceCache, pageViews };
  const running = await start(app(parts), { platform, drain: "100ms" });
  await platform.streams.declare([], [sessions]);
  await append();
  await growOld(platform);
  return { [Symbol.asyncDispose]: () => running.stop() };
}
