// What the shop does in partitions: it reads what happens to orders in its order, and makes the statements of a month.
import { setTimeout as sleep } from "node:timers/promises";
import { batch, consumer, poison, rejected, stream, type Platform } from "tuntas";
import { z } from "zod";

const streamOf = <S extends z.ZodType>(name: string, record: S, key: string, owner: string) =>
  stream(name, { record, partitions: 4, key, retention: "7d", owner, runbook: `runbooks/${name}.md` });

export const orderEvents = streamOf(
  "order-events",
  z.object({
    orderId: z.string(),
    event: z.enum(["placed", "paid", "shipped"]),
    amount: z.number(),
    email: z.string().meta({ sensitive: true }),
  }),
  "order id: what happens to an order is seen in its order",
  "orders-team",
);
export const priceChanges = streamOf(
  "price-changes",
  z.object({ article: z.string(), price: z.number() }),
  "article: the latest price wins",
  "catalogue-team",
);
export const pageViews = streamOf(
  "page-views",
  z.object({ visitor: z.string(), page: z.string() }),
  "visitor: a visit is one path",
  "web-team",
);

const settings = {
  from: "start",
  batch: 50,
  onBadRecord: "park",
  retry: { attempts: 3, base: "50ms", max: "200ms" },
  timeout: "10m",
  lagWithin: "1m",
} as const;

/** It knows of no order that is shipped before it is paid, and does not go past one. */
const orderStatus = consumer(orderEvents, {
  ...settings,
  name: "order-status",
  onBadRecord: "stop",
  handle: ({ value: { event, amount } }) =>
    event === "shipped" && amount === 0
      ? rejected({ code: "STATUS_UNKNOWN", message: "the order was shipped before it was paid" })
      : undefined,
});
const auditTrail = consumer(orderEvents, {
  ...settings,
  name: "audit-trail",
  handle: ({ value: { amount, orderId } }) =>
    amount < 0
      ? poison({ code: "AMOUNT_NEGATIVE", message: `order ${orderId} has an amount below 0` })
      : undefined,
});
/** The search engine takes a minute for each page: it is behind, and catches up. */
const searchIndex = consumer(pageViews, {
  ...settings,
  name: "search-index",
  batch: 1,
  lagWithin: "1s",
  handle: (_, { signal }) => sleep(60_000, undefined, { signal }),
});
const priceCache = consumer(priceChanges, { ...settings, name: "price-cache", handle: () => undefined });
/** The application that runs it is not deployed. */
export const visits = consumer(pageViews, { ...settings, name: "visits", handle: () => undefined });

const staging = "shop.statement_staging";

export const makeStaging = ({ database }: Platform) =>
  database.transaction(async ({ client }) => {
    await client.query("create schema if not exists shop");
    await client.query(
      `create table if not exists ${staging} (job bigint not null, partition integer not null, customer integer not null)`,
    );
    await client.query(`create index if not exists statement_staging_job on ${staging} (job, partition)`);
  });

/** A thousand customers a partition. In September one of them has two ledgers. */
export const statements = batch("monthly-statements", {
  input: z.object({ month: z.string(), partitions: z.number(), seconds: z.number() }),
  partitions: ({ partitions }) =>
    Array.from({ length: partitions }, (_, index) => ({ key: `customers-${index}000`, from: index * 1000 })),
  async handle({ from }, { job, number, signal, write }) {
    const { month, seconds } = job.input;
    if (month === "2026-09" && number === 3)
      throw rejected({ code: "LEDGER_AMBIGUOUS", message: `customer ${from + 417} has two ledgers` });
    await sleep(seconds * 1000, undefined, { signal });
    write(`insert into ${staging} select $1, $2, n from generate_series($3::int, $3::int + 999) n`, [
      job.id,
      number,
      from,
    ]);
  },
  validate: ({ rows, job }) => (rows === job.input.partitions * 1000 ? [] : ["customers are missing"]),
  promote: () => undefined,
  staging: { table: staging, kept: "1d" },
  retry: { attempts: 2, base: "50ms", max: "200ms" },
  timeout: "2m",
  concurrency: 2,
  runsOn: "anywhere",
  priority: 0,
  owner: "billing-team",
  runbook: "runbooks/monthly-statements.md",
});

export const parts = {
  orderEvents,
  orderStatus,
  auditTrail,
  priceChanges,
  priceCache,
  pageViews,
  searchIndex,
  statements,
};
