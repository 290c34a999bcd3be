// A small shop in the middle of its day, for journeys and pictures: some work runs, some waits, and something of each
// kind needs a person. Everything came about as it does in earnest: sent, handled, failed.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { app, poison, queue, rejected, start, unknown, worker, type Platform, type RunningApp } from "tuntas";
import { claimLease, effect, provider, reserve } from "tuntas/ledger";
import { add, listParked, Unavailable } from "tuntas/outbox";
import { defaultScope } from "tuntas/queue";
import { z } from "zod";
import { openApi } from "./api.fixture.ts";
import { openBackfills } from "./backfills.fixture.ts";
import { openBatches } from "./batches.fixture.ts";
import { recall } from "./history.fixture.ts";
import { refundApproval, refunds } from "./refunds.fixture.ts";
import { openSchedules } from "./schedules.fixture.ts";
import { openServices } from "./services.fixture.ts";
import { openStreams } from "./streams.fixture.ts";
import { fulfil } from "./workflows.fixture.ts";

const order = z.object({
  orderId: z.string(),
  customerId: z.string().meta({ sensitive: true }).optional(),
});
type Order = z.infer<typeof order>;

const declared = (name: string, owner: string, after = 3) =>
  queue(name, {
    message: order,
    visibilityTimeout: "60s",
    poison: "quarantine",
    deadLetter: {
      after,
      owner,
      runbook: `runbooks/${name}.md`,
      retention: "14d",
      replayForbidden: { ORDER_CLOSED: "a closed order is not charged again" },
    },
  });

const orderWork = declared("order-work", "orders-team");
const paymentCapture = declared("payment-capture", "payments-team", 2);
const invoiceMail = declared("invoice-mail", "billing-team");
const stockUpdate = declared("stock-update", "warehouse-team");

/** How the payments of the day end: most well, some in each other way. */
const endings: readonly ((id: string) => unknown)[] = [
  () => {
    throw Object.assign(new Error("card declined by the issuer"), { code: "CARD_DECLINED" });
  },
  () => {
    throw Object.assign(new Error("the order was closed meanwhile"), { code: "ORDER_CLOSED" });
  },
  () => poison({ code: "CURRENCY_UNKNOWN", message: "currency XXX is not one that we know" }),
  () => unknown({ code: "CAPTURE_TIMEOUT", message: "the acquirer did not answer within 20 s" }),
  () => rejected({ code: "CUSTOMER_BLOCKED", message: "the customer is blocked" }),
];

function endOf({ orderId }: Order): unknown {
  const number = Number(/-(\d+)$/.exec(orderId)?.[1] ?? 0);
  return endings[number % 7]?.(orderId);
}

/** Holds what it was given until the shop closes. */
const holds = (_order: Order, { signal }: { signal: AbortSignal }): Promise<void> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));

const backoff = { base: "10ms", max: "20ms" } as const;

const shop = app({
  refundApproval,
  orderWork: worker(orderWork, {
    idempotencyKey: ({ orderId }) => orderId,
    timeout: "10m",
    concurrency: 3,
    handle: holds,
  }),
  paymentCapture: worker(paymentCapture, {
    idempotencyKey: ({ orderId }) => orderId,
    timeout: "20s",
    concurrency: 8,
    backoff,
    handle: endOf,
  }),
  invoiceMail: worker(invoiceMail, {
    idempotencyKey: "none",
    timeout: "20s",
    handle: () => undefined,
  }),
  stockUpdate: worker(stockUpdate, {
    idempotencyKey: "none",
    timeout: "20s",
    handle: () => undefined,
  }),
});

async function send(platform: Platform, name: string, bodies: readonly string[]): Promise<void> {
  const target = await platform.queues.catalog.get(defaultScope, name);
  await Promise.all(
    bodies.map((body) => platform.queues.sender.send(target, { messageId: randomUUID(), body }, "the shop")),
  );
}

const orders = (count: number): string[] =>
  Array.from({ length: count }, (_, index) =>
    JSON.stringify({ orderId: `ord-${1000 + index}`, customerId: `cust-${index % 9}` }),
  );

async function until(what: () => Promise<boolean>): Promise<void> {
  while (!(await what())) await sleep(30);
}

/** Payments end as they end: dead, quarantined, rejected, done. */
async function pay(platform: Platform): Promise<void> {
  await send(platform, "payment-capture", orders(42));
  const target = await platform.queues.catalog.get(defaultScope, "payment-capture");
  await until(async () => {
    const { ready, inFlight, delayed } = await platform.queues.catalog.count(target);
    return ready + inFlight + delayed === 0;
  });
}

/** A provider that falls silent: what became of the calls, nobody knows. */
async function callOut({ database, ledger }: Platform): Promise<void> {
  const courier = provider({ name: "courier", timeout: "100ms", reconcile: { book: "manual" } });
  ledger.watch(courier);
  const book = (orderId: string) =>
    effect(
      { database },
      {
        provider: courier,
        operation: "book",
        key: `book ${orderId}`,
        request: { orderId },
        subject: `order ${orderId}`,
      },
      () => Promise.reject(new Unavailable("the courier's API closed the connection")),
    ).catch(() => undefined);
  await Promise.all(["ord-1004", "ord-1011", "ord-1019"].map(book));
}

/** A target that refuses: its rows are parked after their last try. The tries before that are not waited for. */
async function announce({ database, targets, waker }: Platform): Promise<void> {
  targets.bind(
    { kind: "http", name: "crm" },
    { deliver: () => Promise.reject(new Error("422: unknown field customerId")) },
  );
  await database.transaction(async (tx) => {
    for (const orderId of ["ord-1001", "ord-1002"])
      await add(tx, {
        target: { kind: "http", name: "crm" },
        key: orderId,
        type: "OrderPlaced",
        payload: JSON.stringify({ orderId, customerId: "cust-1" }),
      });
    await tx.client.query(`update ${database.schema}.outbox set refusals = 9`);
  });
  waker.wake("outbox");
  await until(async () => (await listParked(database)).length === 2);
}

async function hold({ database }: Platform): Promise<void> {
  await database.transaction(async (tx) => {
    for (const [index, resource] of ["2026-0001", "2026-0002", "2026-0003"].entries())
      await reserve(tx, {
        kind: "case-number",
        resource,
        holder: `case-${index + 1}`,
        expiresIn: index === 0 ? "2h" : "1h",
      });
  });
  await claimLease(database, { name: "nightly-ledger-close", owner: "worker-3", lease: "1h" });
}

export interface Shop extends AsyncDisposable {
  readonly running: RunningApp;
  readonly apis: Readonly<Record<string, string>>;
}

/** Opens the shop on the platform, and has its day happen. */
export async function openShop(platform: Platform): Promise<Shop> {
  const running = await start(shop, { platform, drain: "100ms" });
  const [fulfilment, ...rooms] = await Promise.all([
    fulfil(platform),
    openSchedules(platform),
    openStreams(platform),
    openBatches(platform),
    openBackfills(platform),
    openServices(platform),
  ]);
  const api = await openApi(running, (placed) => stockUpdate.send(placed));
  const { catalog } = platform.queues;
  await catalog.create(defaultScope, "legacy-import", {});
  await catalog.create(defaultScope, "ledger.fifo", { contentDeduplication: true });
  await catalog.pause(
    await catalog.get(defaultScope, "invoice-mail"),
    "dewi",
    "the template of the invoice is wrong",
  );
  await send(platform, "order-work", orders(40));
  await send(platform, "invoice-mail", orders(128));
  await send(platform, "legacy-import", orders(17));
  await pay(platform);
  await callOut(platform);
  await announce(platform);
  await hold(platform);
  await platform.operations.start({
    kind: "replay",
    selection: { filter: { queue: "payment-capture", code: "CURRENCY_UNKNOWN" } },
    approval: true,
    actor: "mira",
    reason: "currency XXX was added to the table this morning",
  });
  for (const refund of refunds) await refundApproval.start(refund);
  await until(
    async () =>
      (await platform.workflows.approvals.list({ workflow: refundApproval.name })).length === refunds.length,
  );
  await recall(platform, "order-work");
  return {
    running,
    apis: { "Shop API": api.url },
    async [Symbol.asyncDispose]() {
      await api.close();
      await Promise.all([
        running.stop(),
        fulfilment.stop(),
        ...rooms.map((room) => room[Symbol.asyncDispose]()),
      ]);
    },
  };
}
