// Trying things from the page: what is sent, started and called is what a program would have sent, started and called.
import { expect, test } from "vitest";
import { defaultScope } from "tuntas/queue";
import { journey, serveShop } from "./browser.fixture.ts";

journey("trying things at the console in a browser", serveShop, (shop) => {
  const platform = () => shop.platform;
  const liesIn = async (queue: string) =>
    platform().queues.inspector.browse(await platform().queues.catalog.get(defaultScope, queue), {
      state: "ready",
      limit: 500,
    });

  test("a message by the form of its schema is done, and the page says so; the record has it", async () => {
    const page = await shop.visit("/console/queues/payment-capture");
    await page.getByRole("link", { name: "Send" }).click();
    await page.getByLabel("orderId").fill("ord-6");
    await page.getByLabel("Why").fill("does the acquirer answer again?");
    const send = page.getByRole("button", { name: "Send", exact: true });
    const ground = () =>
      page.evaluate<string>(
        "getComputedStyle(document.querySelector('.trial .row .button')).backgroundColor",
      );
    const before = await ground();
    await send.hover();
    await page.waitForTimeout(300); // its ground would have changed by now
    expect(await ground()).toBe(before);
    await send.click();
    await page.getByText("A worker has done it").waitFor();
    const { messageId } = JSON.parse((await shop.lastAct("message.send")).details) as {
      messageId: string;
    };
    expect(await page.getByText(messageId).count()).toBe(1);
    expect(await shop.lastAct("message.send")).toMatchObject({
      actor: "local",
      subject: "queue payment-capture",
      reason: "does the acquirer answer again?",
    });
  });

  test("a text that the schema would refuse goes out as it is, with attributes, and one sees it die", async () => {
    const page = await shop.visit("/console/try?queue=payment-capture");
    await page.getByLabel("orderId").waitFor();
    await page.getByRole("button", { name: "Text" }).click();
    await page.getByRole("textbox", { name: "Body", exact: true }).fill("this is not JSON");
    await page.getByText("Not JSON: it goes out as it is").waitFor();
    await page.getByText("Group, delay, attributes").click();
    await page.getByLabel(/Attributes/).fill("correlationId=try-1\nregion=id");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.getByText("quarantined", { exact: true }).waitFor();
    await page.getByLabel("What came of it").getByRole("link").last().click();
    await page.waitForURL(/queues\/payment-capture\?message=/);
    await page.getByRole("complementary").getByText("this is not JSON").waitFor();
    await page.getByRole("complementary").getByText("try-1").waitFor();
  });

  test("a FIFO queue asks for the group; the same again within five minutes is a duplicate", async () => {
    const page = await shop.visit("/console/try?queue=ledger.fifo");
    await page.getByRole("textbox", { name: "Body", exact: true }).fill("entry 1");
    const send = page.getByRole("button", { name: "Send", exact: true });
    await send.click(); // the browser asks for the group first
    await page.getByLabel(/^Group/).fill("account-1");
    await send.click();
    await page.getByRole("heading", { name: "Sent" }).waitFor();
    await send.click();
    await page.getByText("A duplicate: not sent again").waitFor();
    expect(await liesIn("ledger.fifo")).toMatchObject([{ body: "entry 1", groupId: "account-1" }]);
  });

  test("what a queue refuses is said in words, and nothing is sent", async () => {
    const page = await shop.visit("/console/try?queue=legacy-import");
    const before = (await liesIn("legacy-import")).length;
    await page.getByRole("textbox", { name: "Body", exact: true }).fill("x".repeat(1_100_000));
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.getByRole("alert").getByText("TUNTAS_MESSAGE_SIZE").waitFor();
    expect(await liesIn("legacy-import")).toHaveLength(before);
  });

  test("an execution is started from its machine, by name once, and followed", async () => {
    const page = await shop.visit("/console/workflows/OrderFulfilment");
    await page.getByRole("link", { name: "Start" }).click();
    const input = JSON.stringify({
      orderId: "ord-3001",
      total: 9,
      courier: "prompt",
      pickupSeconds: 0,
      items: [],
    });
    await page.getByRole("textbox", { name: "Input", exact: true }).fill(input);
    await page.getByLabel(/^Name/).fill("by-hand");
    const start = page.getByRole("button", { name: "Start", exact: true });
    await start.click();
    await page.getByText("succeeded").waitFor();
    await start.click();
    await page.getByText("Not started: the name is taken").waitFor(); // as Step Functions has it, once it has ended
    expect((await shop.lastAct("workflow.start")).subject).toMatch(/:OrderFulfilment:by-hand$/);
    await page.getByRole("link", { name: "by-hand" }).first().click();
    await page.getByRole("heading", { name: "by-hand" }).waitFor();
  });

  test("the API is called by the form of what it takes, and answers as it answers anybody", async () => {
    const page = await shop.visit("/console/try?what=api");
    await page.getByRole("textbox", { name: "orderId" }).fill("ord-55");
    const key = page.getByLabel(/^Idempotency-Key/);
    const first = await key.inputValue();
    expect(first).not.toBe("");
    const call = page.getByRole("button", { name: "Call", exact: true });
    await call.click();
    await page.getByText("202", { exact: true }).waitFor();
    await expect.poll(() => key.inputValue()).not.toBe(first); // the next request is a new one
    await page.getByRole("textbox", { name: "orderId" }).fill("");
    await call.click();
    await page.getByText("TUNTAS_HTTP_INVALID").waitFor();
    expect(await shop.lastAct("api.call")).toMatchObject({ subject: "api Shop API", actor: "local" });
    await page.getByLabel("Request").selectOption("GET /orders/{orderId}");
    await page.getByRole("textbox", { name: "orderId" }).fill("a/b c");
    await call.click();
    await page.getByText("GET /orders/a%2Fb%20c").waitFor();
    await page.getByLabel("Answer").first().getByText("a/b c").waitFor();
  });

  test("any method and path, but none beyond the API", async () => {
    const page = await shop.visit("/console/try?what=api&call=another+request");
    await page.getByLabel(/^Path/).fill("/livez");
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await page.getByText('"live"').waitFor();
    await page.getByLabel(/^Path/).fill("@evil.example/");
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await page.getByRole("alert").getByText("expected one below the API").waitFor();
  });
});
