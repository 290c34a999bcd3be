// The shop's day, once for a database. Each step is what a customer, a colleague or a clerk would have done.
import { setTimeout as sleep } from "node:timers/promises";
import type { Platform } from "tuntas";
import { claimLease, reserve } from "tuntas/ledger";
import { add } from "tuntas/outbox";
import { defaultScope } from "tuntas/queue";
import { makeStaging, orderEvents, pageViews, priceChanges, visits, statements } from "./parts.ts";
import { everyNight, invoices, parcels, payments, reportRun, silentOrder } from "./shop.ts";

export interface Places {
  readonly ordersUrl: string;
  readonly casesUrl: string;
}

async function call(
  url: string,
  { body, headers = {} }: { body: unknown; headers?: Record<string, string> },
) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(20_000),
  });
  if (!response.ok) throw new Error(`${url} answers ${response.status}: ${await response.text()}`);
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

const order = ({ ordersUrl }: Places) =>
  Promise.all(
    numbers(3).map((number) => call(`${ordersUrl}/orders`, { body: { customerId: `cust_${number}` } })),
  );

/** Two cases, each waiting for as many supervisors as it is grave. */
const openCases = ({ casesUrl }: Places) =>
  Promise.all(
    (["normal", "high"] as const).map((severity, index) =>
      call(`${casesUrl}/cases`, {
        body: { tenantId: "t1", partyName: `Acme ${index + 1}`, jurisdiction: "ID-JK", severity },
        headers: { "x-user": "ana", "idempotency-key": `demonstration-${severity}` },
      }),
    ),
  );

const card = "4111 1111 1111 1111";

/** Most payments end well; one is declined, one is poison, and about one nobody knows. */
const pay = () =>
  Promise.all([
    ...numbers(6).map((number) =>
      payments.send({ orderId: `ord-${4100 + number}`, amount: 10 * number, card }),
    ),
    payments.send({ orderId: "ord-4201", amount: 75, card: "0000 declined" }),
    payments.send({ orderId: "ord-4202", amount: 20, currency: "XXX", card }),
    payments.send({ orderId: silentOrder, amount: 990, card }),
  ]);

async function holdInvoices({ queues: { catalog } }: Platform): Promise<void> {
  const queue = await catalog.get(defaultScope, invoices.name);
  await catalog.pause(queue, "dewi", "the template of the invoice is wrong");
  await Promise.all(
    numbers(12).map((number) =>
      invoices.send({ orderId: `ord-${4100 + number}`, email: `customer-${number}@example.com` }),
    ),
  );
}

const stopCounting = ({ schedules }: Platform) =>
  schedules.pause(everyNight.name, { by: "mira", reason: "the warehouse moves this week" });

const pack = () =>
  Promise.all([
    ...numbers(3).map((number) => parcels.send({ parcelId: `parcel-${number}`, seconds: 1 })),
    parcels.send({ parcelId: "parcel-tomorrow" }, { delay: "15m" }),
  ]);

const hold = ({ database }: Platform) =>
  database.transaction(async (tx) => {
    await reserve(tx, {
      kind: "delivery-slot",
      resource: "Tuesday 9:00",
      holder: "ord-4101",
      expiresIn: "1d",
    });
    await reserve(tx, {
      kind: "delivery-slot",
      resource: "Tuesday 9:30",
      holder: "ord-4102",
      expiresIn: "1d",
    });
  });

const close = ({ database }: Platform) =>
  claimLease(database, { name: "nightly-ledger-close", owner: "bookkeeping", lease: "12h" });

const crm = { kind: "http", name: "crm" } as const;

/** The customer system does not take what it is told: it stays in the outbox, with the refusal. */
export const bindCrm = ({ targets }: Platform) =>
  targets.bind(crm, { deliver: () => Promise.reject(new Error("422: unknown field customerId")) });

async function announce({ database }: Platform): Promise<void> {
  await database.transaction((tx) =>
    add(tx, {
      target: crm,
      key: "ord-4101",
      type: "OrderPlaced",
      payload: JSON.stringify({ orderId: "ord-4101", customerId: "cust_1" }),
    }),
  );
}

const lookEveryMs = 200;
const looksMax = 150;

/** Looks until it is so, for as long as a colleague would. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let look = 0; look < looksMax; look++) {
    if (await isSo()) return;
    await sleep(lookEveryMs);
  }
}

/** One order is shipped before it is paid, one has an amount that cannot be, and nobody counts visits. */
async function record({ streams }: Platform): Promise<void> {
  await streams.declare([], [visits]);
  const happens = (number: number, event: "placed" | "paid" | "shipped", amount: number) => {
    const orderId = `ord-${4100 + number}`;
    return orderEvents.append({ orderId, event, amount, email: "a@example.com" }, { key: orderId });
  };
  await Promise.all(numbers(20).map((number) => happens(number, "placed", 10 * number)));
  await Promise.all([happens(3, "shipped", 0), happens(5, "paid", -1), happens(7, "paid", 70)]);
  for (const number of numbers(8)) {
    const [article, visitor] = [`article-${number}`, `visitor-${number}`];
    await priceChanges.append({ article, price: 5 + number }, { key: article });
    // So many that the search engine is behind for as long as somebody looks.
    await Promise.all(
      numbers(40).map((page) => pageViews.append({ visitor, page: `/${page}` }, { key: visitor })),
    );
  }
}

/** August is done, September fails, November takes its time, October waits, July is paused. */
async function makeStatements(platform: Platform): Promise<void> {
  await makeStaging(platform);
  const { batches } = platform;
  const begin = (month: string, of: { partitions: number; seconds: number; priority: number }) => {
    const { priority, ...input } = of;
    const why = { by: "dewi", reason: "the month is closed" };
    return statements.start({ month, ...input }, { key: month, priority, ...why });
  };
  await begin("2026-08", { partitions: 6, seconds: 0, priority: 9 });
  await begin("2026-09", { partitions: 6, seconds: 0, priority: 8 });
  await begin("2026-11", { partitions: 240, seconds: 20, priority: 7 });
  await begin("2026-10", { partitions: 6, seconds: 1, priority: 5 });
  const { jobId } = await begin("2026-07", { partitions: 6, seconds: 1, priority: 0 });
  await until(async () => (await batches.job(jobId)).state === "waiting");
  await batches.say("pause", jobId, { by: "mira", reason: "July is audited this week" });
}

/** A colleague wants to replay what was quarantined; it waits for the word of another one. */
async function askForReplay({ operations, queues }: Platform): Promise<void> {
  const filter = { queue: payments.name, code: "CURRENCY_UNKNOWN" };
  await until(async () => (await queues.deadLetters.groups(defaultScope, filter)).length > 0);
  await operations.start({
    kind: "replay",
    selection: { filter },
    approval: true,
    actor: "mira",
    reason: "currency XXX was added to the table this morning",
  });
}

/** Whether the day is over already in this database. */
export const isOver = async ({ queues: { catalog } }: Platform): Promise<boolean> =>
  (await catalog.find(defaultScope, payments.name)) !== undefined;

export interface Step {
  readonly name: string;
  readonly failure: unknown;
}

/** Lets the day happen; answers the steps that did not come about. */
export async function live(platform: Platform, places: Places): Promise<readonly Step[]> {
  const steps: Readonly<Record<string, () => Promise<unknown>>> = {
    orders: () => order(places),
    cases: () => openCases(places),
    payments: pay,
    invoices: () => holdInvoices(platform),
    stock: () => stopCounting(platform),
    parcels: pack,
    reservations: () => hold(platform),
    lease: () => close(platform),
    report: () => reportRun.start({ month: "2026-10" }, { name: "report-2026-10" }),
    announcement: () => announce(platform),
    records: () => record(platform),
    statements: () => makeStatements(platform),
    operation: () => askForReplay(platform),
  };
  const failed: Step[] = [];
  for (const [name, run] of Object.entries(steps))
    await run().catch((failure: unknown) => failed.push({ name, failure }));
  return failed;
}
