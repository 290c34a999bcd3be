// The pages of the shop, and what one sees there.
import type { Page } from "playwright-core";
import { workflowPages } from "./tour-workflows.fixture.ts";

export interface Place {
  readonly name: string;
  /** Below /console. */
  readonly address: string;
  /** A text that stands there once it is drawn. */
  readonly shows: string;
  /** What is done before one looks. */
  readonly act?: (page: Page) => Promise<void>;
}

export const pagesOfShop: readonly Place[] = [
  { name: "home", address: "/", shows: "legacy-import" },
  {
    name: "approvals",
    address: "/approvals",
    shows: "Refund of 1240.00",
    async act(page) {
      await page.getByText("Refund of 1240.00 for ord-1017").first().click();
      await page.getByText("What was known when it was asked").waitFor();
    },
  },
  { name: "queues", address: "/queues", shows: "payment-capture" },
  {
    name: "queue",
    address: "/queues/order-work",
    shows: "At once",
    act: (page) => page.locator(".chart canvas").first().waitFor(),
  },
  {
    name: "message",
    address: "/queues/order-work",
    shows: "At once",
    async act(page) {
      await page.getByRole("table", { name: "Messages, ready" }).getByRole("row").nth(2).click();
      await page.getByText("Why is this not running?").waitFor();
    },
  },
  { name: "dead letters", address: "/dead-letters", shows: "CARD_DECLINED" },
  {
    name: "cause",
    address: "/dead-letters",
    shows: "CARD_DECLINED",
    async act(page) {
      await page.getByText("CARD_DECLINED").click();
      await page.getByText("The oldest says").waitFor();
    },
  },
  {
    name: "replay",
    address: "/dead-letters",
    shows: "CARD_DECLINED",
    async act(page) {
      await page.getByText("CARD_DECLINED").click();
      await page.getByRole("button", { name: "Replay", exact: true }).click();
      await page.getByText("would be replayed").waitFor();
    },
  },
  { name: "outbox", address: "/outbox", shows: "422: unknown field" },
  { name: "side effects", address: "/effects", shows: "courier" },
  { name: "reservations", address: "/reservations", shows: "case-number" },
  { name: "leases", address: "/reservations?view=leases", shows: "nightly-ledger-close" },
  {
    name: "alarms",
    address: "/alarms",
    shows: "backlog-rising",
    async act(page) {
      await page.getByRole("table", { name: "Alarms" }).getByRole("row").nth(1).click();
      await page.getByText("The runbook, now").waitFor();
    },
  },
  {
    name: "operations",
    address: "/operations",
    shows: "asks approval",
    async act(page) {
      await page.getByText("asks approval").first().click();
      await page.getByText("Who and why", { exact: true }).waitFor();
    },
  },
  ...workflowPages,
  {
    name: "try message",
    address: "/try?queue=payment-capture",
    shows: "orderId",
    async act(page) {
      await page.getByLabel("orderId").fill("ord-6");
      await page.getByRole("button", { name: "Send", exact: true }).click();
      await page.getByText("A worker has done it").waitFor();
    },
  },
  { name: "try execution", address: "/try?what=execution&machine=OrderFulfilment", shows: "Start" },
  {
    name: "try api",
    address: "/try?what=api",
    shows: "Idempotency-Key",
    async act(page) {
      await page.getByRole("textbox", { name: "orderId" }).fill("ord-8");
      await page.getByRole("button", { name: "Call", exact: true }).click();
      await page.getByLabel("Answer").getByText("ACCEPTED").waitFor();
    },
  },
  { name: "schedules", address: "/schedules", shows: "nightly-statements" },
  { name: "schedule", address: "/schedules/nightly-statements", shows: "Last success" },
  {
    name: "occurrence",
    address: "/schedules/nightly-statements",
    shows: "Last success",
    async act(page) {
      await page.getByRole("row", { name: /not balanced/ }).click();
      await page.getByText("Run its window again").waitFor();
    },
  },
  { name: "streams", address: "/streams", shows: "price-changes" },
  { name: "stream", address: "/streams/order-events", shows: "does not go past offset" },
  {
    name: "partition",
    address: "/streams/order-events?consumer=order-status",
    shows: "does not go past offset",
    async act(page) {
      await page
        .getByRole("table", { name: "Partitions of order-status" })
        .getByRole("row", { name: /stopped/ })
        .click();
      await page.getByLabel("The record").getByText("ord-2003").waitFor();
    },
  },
  {
    name: "parked record",
    address: "/streams/order-events?view=parked&consumer=audit-trail",
    shows: "LEDGER_CLOSED",
    async act(page) {
      await page
        .getByRole("row", { name: /AMOUNT_NEGATIVE/ })
        .first()
        .click();
      await page.getByText("What it said").waitFor();
    },
  },
  { name: "batches", address: "/batches", shows: "2026-08" },
  {
    name: "job",
    address: "/batches?state=running",
    shows: "2026-11",
    async act(page) {
      await page.getByRole("row", { name: /2026-11/ }).click();
      await page.getByText("are worked on").waitFor();
    },
  },
  {
    name: "failed job",
    address: "/batches?state=failed",
    shows: "2026-07",
    async act(page) {
      await page.getByRole("row", { name: /2026-07/ }).click();
      await page.getByRole("link", { name: "what failed" }).click();
      await page
        .getByRole("table", { name: "Partitions" })
        .getByRole("row", { name: /failed/ })
        .first()
        .click();
      await page.getByText("Mend the cause, then retry what failed of the job").waitFor();
    },
  },
  { name: "backfills", address: "/backfills", shows: "invoice-taxes" },
  {
    name: "backfill approval",
    address: "/backfills?view=runs&state=sampled",
    shows: "Bandung",
    async act(page) {
      await page.getByRole("row", { name: /Bandung/ }).click();
      await page.getByText("fee: 2 → 3").first().waitFor();
    },
  },
  {
    name: "backfill slowed",
    address: "/backfills?view=runs&state=running",
    shows: "Malang",
    async act(page) {
      await page.getByRole("row", { name: /Malang/ }).click();
      await page.getByText(/slow above 20ms/).waitFor();
    },
  },
  { name: "services", address: "/services", shows: "price-feed" },
  {
    name: "service",
    address: "/services/storefront",
    shows: "Why it stopped",
    act: (page) => page.getByLabel("Memory of instance").first().waitFor({ state: "attached" }),
  },
  {
    name: "service history",
    address: "/services/storefront?view=history",
    shows: "2026.11.4",
    async act(page) {
      await page.getByRole("table", { name: "Deployments" }).getByText("failed", { exact: true }).click();
      await page.getByText("Batch 1").waitFor();
    },
  },
  {
    name: "instance",
    address: "/services/storefront",
    shows: "Why it stopped",
    async act(page) {
      await page
        .getByRole("row", { name: /status 3/ })
        .first()
        .click();
      await page.getByLabel("What it printed").waitFor();
    },
  },
  { name: "processes", address: "/processes", shows: "Last heartbeat" },
  { name: "health", address: "/processes?view=health", shows: "no dead letter is left alone" },
  { name: "panels", address: "/processes?view=panels", shows: "Failures by type" },
  { name: "audit", address: "/audit", shows: "queue.pause" },
  {
    name: "keys",
    address: "/queues",
    shows: "payment-capture",
    async act(page) {
      await page.keyboard.press("?");
      await page.getByText("go to a page, to anything").waitFor();
    },
  },
  {
    name: "palette",
    address: "/queues",
    shows: "payment-capture",
    async act(page) {
      await page.keyboard.press("Control+k");
      await page.getByRole("option", { name: "payment-capture Queue" }).waitFor();
    },
  },
];
