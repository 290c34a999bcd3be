// The pages of what is done in partitions, streams and batches, in a browser: what they show, and what acts come to.
import { expect, test } from "vitest";
import type { Page } from "playwright-core";
import { july, openBatches } from "./batches.fixture.ts";
import { confirm, journey, serveConsole } from "./browser.fixture.ts";
import { late, openStreams, orderEvents } from "./streams.fixture.ts";

const serve = () =>
  serveConsole(async ({ platform }) => {
    const opened = await Promise.all([openStreams(platform), openBatches(platform)]);
    return {
      async [Symbol.asyncDispose]() {
        await Promise.all(opened.map((each) => each[Symbol.asyncDispose]()));
      },
    };
  });

journey("streams and batches in a browser", serve, (shop) => {
  const done = (page: Page) => page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
  const consumer = async (name: string) =>
    (await shop.platform.streams.find(orderEvents.name)).consumers.find((each) => each.name === name)!;
  const jobOf = async (key: string) => (await shop.platform.batches.jobs()).find((job) => job.key === key)!;

  test("home says that a partition has stopped; its record is shown, and once the cause is mended it goes on", async () => {
    const page = await shop.visit("/console/");
    await page
      .getByRole("link", {
        name: "Mend it, then resume : order-status has stopped in 1 partition of order-events",
      })
      .click();
    await page.getByRole("heading", { name: "order-events", level: 1 }).waitFor();
    await page.getByRole("row", { name: /stopped .* STATUS_UNKNOWN/ }).click();
    const panel = page.getByRole("complementary", { name: "Partition" });
    await panel.getByText('"ord-2003"').waitFor();
    await panel.getByText('"customerId": "•••"').waitFor();
    late.isMended = true;
    await panel.getByRole("button", { name: "Resume" }).click();
    await confirm(page, "Resume it", "a late order has a status now");
    await page.getByText("Resumed 1 partition").waitFor();
    await done(page);
    await panel.getByText("all read").waitFor();
    await expect.poll(() => consumer("order-status").then(({ lag }) => lag)).toBe(0);
    expect(await shop.lastAct("stream.resume")).toMatchObject({
      subject: "stream order-events consumer order-status",
      actor: "local",
      reason: "a late order has a status now",
    });
    await page.getByRole("link", { name: "Record", exact: true }).click();
    await page.getByRole("row", { name: /local stream\.resume a late order/ }).waitFor();
    expect(page.complaints).toEqual([]);
  });

  test("with the keyboard alone: to the stream, to what is parked, and one record of it is handled again and another is not", async () => {
    const page = await shop.visit("/console/");
    await page.getByRole("heading", { name: "Needs a decision" }).waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("m");
    await page.getByRole("row", { name: /page-views nobody reads/ }).waitFor();
    await page.getByRole("group", { name: "Streams" }).focus();
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "Parked records, 3" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("row", { name: /LEDGER_CLOSED/ }).focus();
    await page.keyboard.press("Enter");
    const panel = page.getByRole("complementary", { name: "Parked record" });
    await panel.getByRole("button", { name: "Replay" }).focus();
    await page.keyboard.press("Enter");
    await confirm(page, "Replay", "the ledger is open again");
    await page.getByText("1 record to be handled again").waitFor();
    await done(page);
    await page.keyboard.press("Escape");
    // It fails once more, with one failure more.
    await expect
      .poll(async () =>
        (await shop.platform.streams.parked(orderEvents.name)).map(({ attempts }) => attempts),
      )
      .toContain(4);
    await page
      .getByRole("row", { name: /AMOUNT_NEGATIVE/ })
      .first()
      .click();
    await panel.getByRole("button", { name: "Discard" }).click();
    await page.getByLabel("Type audit-trail to confirm").fill("audit-trail");
    await confirm(page, "Discard", "it was a test order");
    await page.getByText("1 record removed").waitFor();
    await done(page);
    expect((await consumer("audit-trail")).parked).toBe(2);
    expect(await shop.lastAct("stream.discard")).toMatchObject({ reason: "it was a test order" });
  });

  test("a consumer is rewound to an offset of a partition that is kept, and to no other", async () => {
    const page = await shop.visit("/console/streams/order-events?consumer=audit-trail");
    await page.getByRole("button", { name: "Rewind" }).click();
    await page.getByLabel("Read on from").selectOption("offset");
    await page.getByRole("spinbutton", { name: /^Offset/ }).fill("2");
    await page.getByLabel("Type audit-trail to confirm").fill("audit-trail");
    await confirm(page, "Rewind it", "rows were lost");
    await page.getByText("It reads on from there").waitFor();
    await done(page);
    expect(await shop.lastAct("stream.rewind")).toMatchObject({
      details: JSON.stringify({ to: [{ partition: 0, offset: 2 }] }),
    });
    const refused = await page.evaluate<{ code: string }>(`fetch("/console/api/session")
      .then((answer) => answer.json()).then(({ token }) => fetch("/console/api/stream.rewind", {
        method: "POST", headers: { "content-type": "application/json", "x-tuntas-csrf": token },
        body: JSON.stringify({ stream: "order-events", consumer: "audit-trail", reason: "r", to: "offset", partition: 0, offset: 9999 })
      })).then((answer) => answer.json())`);
    expect(refused.code).toBe("TUNTAS_STREAM_OFFSET");
  });

  test("a key that most records have makes its partition hot, and the stream says so", async () => {
    const event = { orderId: "ord-1", event: "placed", amount: 1, customerId: "cust-1" } as const;
    await Promise.all(Array.from({ length: 150 }, () => orderEvents.append(event, { key: "ord-1" })));
    const page = await shop.visit("/console/streams/order-events");
    await page.getByText(/times its share of the records; most have the key/).waitFor();
  });

  test("home says that a job failed; what failed is done again and nothing else, and the manifest is there without a reload", async () => {
    const page = await shop.visit("/console/");
    await page
      .getByRole("link", { name: /Mend, then retry : Job \d+ of monthly-statements failed in 2 partitions/ })
      .click();
    await page
      .getByRole("row", { name: /failed .* LEDGER_AMBIGUOUS/ })
      .first()
      .click();
    const panel = page.getByRole("complementary", { name: "Partition" });
    await panel.getByText("2 of 2").waitFor();
    july.isMended = true;
    // The month that runs holds the batch's turn.
    const { id: running } = await jobOf("2026-11");
    await shop.platform.batches.say("cancel", running, { by: "dewi", reason: "July first" });
    await panel.getByRole("button", { name: "Retry what failed" }).click();
    await page.getByText("Tries 2 partitions again, and nothing else: the 10 that are done").waitFor();
    await confirm(page, "Retry it", "the ledgers are merged");
    await page.getByText("It goes on when it is its turn").waitFor();
    await done(page);
    await page.getByText("12,000 rows of 12 partitions").waitFor();
    const { id, manifest } = await jobOf("2026-07");
    expect(manifest).toMatchObject({ partitions: 12, rows: 12_000 });
    expect(await shop.lastAct("batch.retry")).toMatchObject({
      subject: `job ${id}`,
      reason: "the ledgers are merged",
    });
    expect(page.complaints).toEqual([]);
  });

  test("a paused job says who paused it and why, and goes on to its manifest", async () => {
    const { id } = await jobOf("2026-09");
    const page = await shop.visit(`/console/batches/${id}`);
    await page.getByText("September is audited this week").waitFor();
    await page.getByRole("button", { name: "Resume" }).click();
    await confirm(page, "Resume it", "the audit is over");
    await done(page);
    await page.getByText("18,000 rows of 18 partitions").waitFor();
    await page.goto(`${shop.url}/console/batches/999`);
    await page.getByText("TUNTAS_BATCH_MISSING").waitFor();
  });

  test("the palette finds streams and batches by their names", async () => {
    const page = await shop.visit("/console/");
    await page.getByRole("heading", { name: "Needs a decision" }).waitFor();
    // What is read once is read again where the server was too busy to answer.
    await page.route("**/console/api/streams*", (route) => route.fulfill({ status: 503 }), { times: 1 });
    await page.keyboard.press("Control+k");
    await page.keyboard.type("order-ev");
    await page.getByRole("option", { name: "order-events Stream" }).waitFor();
    await page.getByRole("combobox").fill("monthly-st");
    await page.getByRole("option", { name: "monthly-statements Batch" }).click();
    const filter = page.getByRole("combobox", { name: "Batch", exact: true });
    await expect.poll(() => filter.inputValue()).toBe("monthly-statements");
    await page.getByRole("row", { name: /bank-import/ }).waitFor({ state: "detached" });
  });

  test("a viewer sees all of it and does nothing", async () => {
    const { users } = shop.platform.access;
    await users.add(
      { name: "vera", role: "viewer", password: "a long enough password" },
      { actor: "t", from: "t" },
    );
    const page = await shop.visit("/console/streams/order-events?consumer=audit-trail");
    await page.getByLabel("Name").fill("vera");
    await page.getByLabel("Password").fill("a long enough password");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "order-events", level: 1 }).waitFor();
    expect(await page.getByRole("button", { name: "Rewind" }).isDisabled()).toBe(true);
    const statuses = await page.evaluate<number[]>(
      `Promise.all(["stream.discard", "batch.say"].map((act) => fetch("/console/api/" + act, { method: "POST", body: "{}" }).then(({ status }) => status)))`,
    );
    expect(statuses).toEqual([403, 403]);
  });
});
