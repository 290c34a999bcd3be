// The shop of the demonstration. How its work ends is written on it, so that each way to end can be seen.
import { setTimeout as sleep } from "node:timers/promises";
import { alarm, app, poison, queue, schedule, task, worker, workflow } from "tuntas";
import { effect, provider } from "tuntas/ledger";
import { Unavailable } from "tuntas/outbox";
import { z } from "zod";
import { parts } from "./parts.ts";

const shopQueue = <S extends z.ZodType>(name: string, message: S, owner: string) =>
  queue(name, {
    message,
    visibilityTimeout: "60s",
    poison: "quarantine",
    deadLetter: { after: 2, owner, runbook: `runbooks/${name}.md`, retention: "14d" },
  });

const payment = z.object({
  orderId: z.string().min(1),
  amount: z.number().positive(),
  currency: z.string().default("IDR"),
  card: z.string().meta({ sensitive: true, description: "masked for whoever may not see it" }),
});
const parcel = z.object({ parcelId: z.string().min(1), seconds: z.number().min(0).max(60).default(6) });
const invoice = z.object({ orderId: z.string().min(1), email: z.string().meta({ sensitive: true }) });

export const payments = shopQueue("payment-capture", payment, "payments-team");
export const parcels = shopQueue("parcel-packing", parcel, "warehouse-team");
export const invoices = shopQueue("invoice-mail", invoice, "billing-team");
const stockCounts = shopQueue("stock-count", z.object({ scheduledAt: z.string() }), "warehouse-team");

/** It never answers about one order, and nobody can ask it afterwards. */
export const acquirer = provider({ name: "acquirer", timeout: "500ms", reconcile: { capture: "manual" } });
export const silentOrder = "ord-4711";

const paymentWorker = worker(payments, {
  idempotencyKey: ({ orderId }) => orderId,
  timeout: "20s",
  concurrency: 4,
  backoff: { base: "50ms", max: "200ms" },
  async handle({ orderId, amount, currency, card }, { database }) {
    if (currency === "XXX")
      return poison({ code: "CURRENCY_UNKNOWN", message: `currency ${currency} is not one that we know` });
    if (card.startsWith("0000"))
      throw Object.assign(new Error("card declined by the issuer"), { code: "CARD_DECLINED" });
    await effect(
      { database },
      {
        provider: acquirer,
        operation: "capture",
        key: `capture ${orderId}`,
        request: { orderId, amount, currency },
        subject: `order ${orderId}`,
      },
      () => {
        if (orderId === silentOrder) throw new Unavailable("the acquirer closed the connection");
        return Promise.resolve({ response: { captured: amount }, reference: `acq-${orderId}` });
      },
    );
    return undefined;
  },
});

const invoiceWorker = worker(invoices, {
  idempotencyKey: ({ orderId }) => orderId,
  timeout: "20s",
  handle: ({ orderId }, { log }) => log.info({ event: "invoice.sent", orderId }, "sent the invoice"),
});

/** Takes as long as it says on the parcel; a second packer begins it anew. */
export const parcelWorker = worker(parcels, {
  idempotencyKey: ({ parcelId }) => parcelId,
  timeout: "90s",
  concurrency: 4,
  handle: ({ seconds }, { signal }) => sleep(seconds * 1000, undefined, { signal }),
});

const stockCounter = worker(stockCounts, {
  idempotencyKey: "none",
  timeout: "20s",
  handle: ({ scheduledAt }, { log }) =>
    log.info({ event: "stock.counted", scheduledAt }, "counted the stock"),
});

const counted = {
  timeZone: "Asia/Jakarta",
  overlap: "skip",
  catchUp: "skip",
  target: stockCounts,
  owner: "warehouse-team",
  runbook: "runbooks/stock-count.md",
} as const;

const everyMinute = schedule("stock-count", { ...counted, when: "rate(1 minute)", succeedsWithin: "10m" });
/** A person has paused it. */
export const everyNight = schedule("night-count", {
  ...counted,
  when: "cron(30 1 * * ? *)",
  succeedsWithin: "30d",
});

export const reportRun = workflow("MonthlyReport", {
  definition: {
    Comment: "Collects the month and prints it. The printer is off until somebody turns it on.",
    StartAt: "Collect",
    States: {
      Collect: { Type: "Task", Resource: "Collect", ResultPath: "$.pages", Next: "IsThereAnything" },
      IsThereAnything: {
        Type: "Choice",
        Choices: [{ Variable: "$.pages", NumericGreaterThan: 0, Next: "Print" }],
        Default: "NothingToPrint",
      },
      Print: {
        Type: "Task",
        Resource: "Print",
        Retry: [{ ErrorEquals: ["PrinterBusy"], IntervalSeconds: 1, MaxAttempts: 2, BackoffRate: 1 }],
        ResultPath: null,
        End: true,
      },
      NothingToPrint: { Type: "Succeed" },
    },
  },
  input: z.object({ month: z.string().regex(/^\d{4}-\d{2}$/) }),
  tasks: {
    Collect: task({
      input: z.object({ month: z.string() }),
      idempotent: true,
      handle: ({ month }) => Number(month.slice(-2)) * 4,
    }),
    Print: task({
      idempotent: true,
      handle() {
        throw Object.assign(new Error("the printer does not answer"), { name: "PrinterOff" });
      },
    }),
  },
});

export const invoicesWait = alarm("invoices-wait", {
  metric: { name: "tuntas_queue_oldest_age_seconds", labels: { queue: "invoice-mail" } },
  when: { above: 15 },
  of: [1, 1],
  period: "10s",
  missing: "ignore",
  severity: "ticket",
  owner: "billing-team",
  runbook: "runbooks/invoice-mail.md",
  notify: [],
});

const shop = {
  payments,
  paymentWorker,
  invoices,
  invoiceWorker,
  parcels,
  stockCounter,
  everyMinute,
  everyNight,
  acquirer,
  reportRun,
  invoicesWait,
  ...parts,
};

/** At a terminal the parcels are packed by processes of their own, which one may kill. */
export const shopApp = ({ packsHere }: { readonly packsHere: boolean }) =>
  app(packsHere ? { ...shop, parcelWorker } : shop);

export const packerApp = app({ parcelWorker });
