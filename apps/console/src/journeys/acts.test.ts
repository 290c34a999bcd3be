// What people do at the console, by keyboard and by pointer, and what it comes to in the database.
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { app, queue, start, worker } from "tuntas";
import { defaultScope } from "tuntas/queue";
import { listEffects } from "tuntas/ledger";
import { z } from "zod";
import { confirm, cpuOf, journey, serveShop } from "./browser.fixture.ts";

journey("acts at the console in a browser", serveShop, (shop) => {
  const platform = () => shop.platform;
  /** One that nobody has looked at yet, so that no earlier look serves. */
  const openQueue = (queue: string) => platform().queues.catalog.create(defaultScope, queue, {});
  const send = async (queue: string, body: string) => {
    const target = await platform().queues.catalog.get(defaultScope, queue);
    await platform().queues.sender.send(target, { messageId: randomUUID(), body }, "test");
  };

  test("with the keyboard alone: to the queues, into one, pause it with a reason", async () => {
    const page = await shop.visit("/console/");
    await page.getByRole("heading", { name: "Needs a decision" }).waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("q");
    await page.getByRole("heading", { name: "Queues", level: 1 }).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("stock-update");
    await page.waitForURL(/search=stock-update/);
    await page.getByText("2 queues").waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "stock-update", level: 1 }).waitFor();
    await page.getByRole("button", { name: "Pause" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Pause stock-update" }).waitFor();
    await page.keyboard.type("the warehouse counts");
    await page.keyboard.press("Control+Enter");
    await page.getByText("Workers get nothing of it").waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Resume" }).waitFor();
    expect(await shop.lastAct("queue.pause")).toMatchObject({ reason: "the warehouse counts" });
  });

  test("Q-15 Q-16 Q-20 dead letters: a cause, a dry count, a replay on the record", async () => {
    const page = await shop.visit("/console/dead-letters");
    await page.getByText("CARD_DECLINED").click();
    await page.getByRole("button", { name: "Replay", exact: true }).click();
    await page.getByText(/\d+ messages would be replayed/).waitFor();
    await confirm(page, "Replay", "the issuer is back");
    await page.getByText(/messages were replayed/).waitFor();
    const [replayed] = await platform().operations.list({ kind: "replay", state: "completed" });
    expect(replayed).toMatchObject({ actor: "local", reason: "the issuer is back", done: 6 });
  });

  test("Q-18 a rule of the queue forbids a replay, and the page says which", async () => {
    const page = await shop.visit("/console/dead-letters?fingerprint=none");
    await page.getByText("ORDER_CLOSED").click();
    await page.getByText("a closed order is not charged again").waitFor();
    expect(await page.getByRole("button", { name: "Replay", exact: true }).isDisabled()).toBe(true);
  });

  test("a message whose effect is in doubt is replayed only once somebody says that they looked", async () => {
    const page = await shop.visit("/console/dead-letters");
    await page.getByText("CAPTURE_TIMEOUT").click();
    await page.getByRole("button", { name: "Replay", exact: true }).click();
    await confirm(page, "Replay", "try it");
    await page
      .getByRole("alert")
      .getByText(/nothing was done|nothing was replayed/)
      .first()
      .waitFor();
    await page.getByText("I have looked on the other side").click();
    await page.getByRole("dialog").getByRole("button", { name: "Replay" }).click();
    await page.getByText(/messages were replayed/).waitFor();
  });

  test("a purge wants the name typed, and deletes nothing before", async () => {
    const page = await shop.visit("/console/queues/legacy-import");
    await page.getByRole("button", { name: "Purge" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Why").fill("it is old");
    const purge = dialog.getByRole("button", { name: "Delete every message" });
    expect(await purge.isDisabled()).toBe(true);
    await dialog.getByLabel(/Type/).fill("legacy-import");
    await purge.click();
    await page.getByText("Every message of it is gone.").waitFor();
    const queue = await platform().queues.catalog.get(defaultScope, "legacy-import");
    expect((await platform().queues.catalog.count(queue)).ready).toBe(0);
  });

  test("limits are changed with what was before on the record", async () => {
    const page = await shop.visit("/console/queues/order-work");
    await page.getByRole("button", { name: "Limits" }).click();
    await page.getByLabel(/Visibility timeout/).fill("90");
    await confirm(page, "Change them", "handlers got slower");
    await page.getByText("visibilitySeconds 60 → 90").waitFor();
    expect(JSON.parse((await shop.lastAct("queue.configure")).details)).toMatchObject({
      before: { visibilitySeconds: 60 },
      after: { visibilitySeconds: 90 },
    });
  });

  test("a call that nobody knows the end of is settled by a person's word", async () => {
    const page = await shop.visit("/console/effects?state=unknown");
    await page.getByText("book ord-1004").click();
    await page.getByRole("button", { name: "Say what became of it" }).click();
    await page.getByLabel("It took place.").check();
    await page.getByLabel(/Reference/).fill("ups-77");
    await confirm(page, "Say so", "seen in the courier's portal");
    await page.getByText("It is succeeded now.").waitFor();
    const settled = await listEffects(platform().database, { state: "succeeded" });
    expect(settled.map(({ key, reference }) => ({ key, reference }))).toContainEqual({
      key: "book ord-1004",
      reference: "ups-77",
    });
  });

  test("a parked announcement is put back, and a lease is taken from its owner", async () => {
    const page = await shop.visit("/console/outbox?state=parked");
    await page.getByText("422: unknown field customerId").first().click();
    await page.getByRole("button", { name: "Put back", exact: true }).click();
    await confirm(page, "Put back", "the field is known now");
    await page.getByText("1 put back").waitFor();
    await page.goto(`${shop.url}/console/reservations?view=leases`);
    await page.getByRole("button", { name: "Free nightly-ledger-close" }).click();
    await confirm(page, "Free it", "worker-3 is gone");
    await page.getByText("It is free;").waitFor();
  });

  test("H-14 H-17 an approval is found by keyboard and decided with a reason; its execution goes on", async () => {
    const page = await shop.visit("/console/approvals");
    await page.getByText("Refund of 49.90").waitFor();
    await page.getByRole("group", { name: "Approvals" }).focus();
    const walk = async () => {
      await page.keyboard.press("j");
      return page.evaluate<string>("document.activeElement.innerText");
    };
    while (!(await walk()).includes("Refund of 49.90"));
    await page.keyboard.press("a");
    await confirm(page, "Approve", "paid twice, seen in the bank's list");
    await page.getByText("Decided. The execution is told").waitFor();
    const { approvals, executions } = platform().workflows;
    const [decided] = await approvals.list({ status: "approved" });
    expect(decided).toMatchObject({ subject: "Refund of 49.90 for ord-1003", status: "approved" });
    await expect.poll(async () => (await executions.find(decided!.executionArn))!.status).toBe("SUCCEEDED");
  });

  test("an operation that somebody asked for begins once another approves, and says what became of each", async () => {
    const page = await shop.visit("/console/operations?state=awaiting_approval");
    await page.getByRole("row", { name: /replay/ }).click();
    await page.getByRole("button", { name: "Rate" }).click();
    await page.getByLabel(/At most so many a second/).fill("50");
    await confirm(page, "Set it", "the acquirer asked for it");
    await page.getByText("50 a second now.").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
    await page.getByRole("button", { name: "Approve" }).click();
    await confirm(page, "Approve", "seen the table");
    await page.getByText("It is running now.").waitFor();
    await page.getByRole("button", { name: "Close" }).last().click();
    await page.getByText("What became of each").waitFor();
    const [operation] = (await platform().operations.list({})).filter(({ actor }) => actor === "mira");
    expect(operation).toMatchObject({ kind: "replay", actor: "mira", decidedBy: "local", perSecond: 50 });
  });

  const runOf = (order: string) =>
    `arn:aws:states:us-east-1:000000000000:execution:OrderFulfilment:fulfil-${order}`;

  test("a run is stopped with a reason, which its error tells", async () => {
    const page = await shop.visit(`/console/workflows/run/${encodeURIComponent(runOf("ord-2035"))}`);
    await page.getByRole("button", { name: "Stop" }).click();
    await confirm(page, "Stop", "the customer called it off");
    await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
    await page.getByText("local: the customer called it off").waitFor();
    const stopped = await platform().workflows.executions.find(runOf("ord-2035"));
    expect(stopped).toMatchObject({ status: "ABORTED", error: "Tuntas.StoppedByOperator" });
    expect((await shop.lastAct("workflow.stop")).subject).toBe(runOf("ord-2035"));
  });

  test("a run that failed is redriven after a look at what it has left behind", async () => {
    const page = await shop.visit(`/console/workflows/run/${encodeURIComponent(runOf("ord-2033"))}`);
    await page.getByRole("button", { name: "Redrive" }).click();
    await page.getByRole("dialog").getByText("goes on at BookCourier").waitFor();
    await confirm(page, "Redrive it", "the courier's API is back, they say");
    await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
    await page.getByText("Redriven 1 times").waitFor();
    expect((await platform().workflows.executions.find(runOf("ord-2033")))!.redriveCount).toBe(1);
    expect((await shop.lastAct("workflow.redrive")).reason).toBe("the courier's API is back, they say");
  });

  test("H-14 a question that the application has a part in says where it can be decided, and is not tried here", async () => {
    const subject = "Refund of 18.50 for ord-1022";
    const { database } = platform();
    await database.transaction(({ client }) =>
      client.query(`update ${database.schema}.approval set guarded = true where subject = $1`, [subject]),
    );
    const page = await shop.visit("/console/approvals");
    await page.getByText(subject).first().click();
    await page.getByText("It cannot be decided from this console.").waitFor();
    await page.getByText(/tuntas approval approve .* --app FILE/).waitFor();
    expect(await page.getByRole("button", { name: "Approve" }).isDisabled()).toBe(true);
    await page.keyboard.press("a");
    expect(await page.getByRole("dialog").count()).toBe(0);
    await page.getByRole("button", { name: "Withdraw" }).click();
    await confirm(page, "Withdraw", "asked twice");
    await page.getByText("Withdrawn. The execution is told").waitFor();
  });

  test("Q-15 a dead letter is shown whole to who may see it, put right and sent anew; all of it is on the record", async () => {
    const page = await shop.visit("/console/dead-letters");
    await page.getByText("ORDER_CLOSED").click();
    await page.getByRole("table", { name: "Messages of this cause" }).getByRole("row").nth(1).click();
    const edit = page.getByRole("button", { name: "Edit and send anew" });
    await edit.waitFor();
    expect(await edit.isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Show masked fields" }).click();
    await confirm(page, "Show it", "whose order is it?");
    await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
    await page
      .getByLabel("Body", { exact: true })
      .getByText(/cust-\d/)
      .waitFor();
    const look = await shop.lastAct("payload.reveal");
    expect(look).toMatchObject({ actor: "local", reason: "whose order is it?" });
    await edit.click();
    await page.getByRole("dialog").getByLabel("Body").fill('{"orderId":"ord-6"}');
    await confirm(page, "Send it anew", "it was the order beside it");
    await page.getByText(/Sent as .*, and the old one is rejected/).waitFor();
    const sent = await shop.lastAct("dlq.resend");
    expect(sent).toMatchObject({ subject: look.subject, reason: "it was the order beside it" });
    const messageId = look.subject.replace("message ", "");
    expect(await platform().queues.inspector.explain(messageId)).toMatchObject({ state: "rejected" });
  });

  test("V-08 V-10 the worker's screen answers ten questions from live figures, each in words and with a shape", async () => {
    const page = await shop.visit("/console/queues/order-work");
    const tiles = page.getByLabel("Ten questions").getByRole("listitem");
    await tiles.nth(9).waitFor();
    expect(await tiles.count()).toBe(10);
    const texts = await tiles.allInnerTexts();
    expect(texts[0]).toMatch(/Alive\?\s+1 at work/);
    await page.goto(`${shop.url}/console/queues/legacy-import`);
    await page.locator('[data-fine="false"]').getByText("no process works on it").waitFor();
  });

  test("V-28 an execution's page says in words where it stands, what it waits for, and what is true of its order", async () => {
    const page = await shop.visit(`/console/workflows/run/${encodeURIComponent(runOf("ord-2034"))}`);
    await page.getByText("Why is this not moving?").waitFor();
    await page.getByText("it waits until somebody answers with its task token").waitFor();
    await page.getByRole("link", { name: "Evidence" }).click();
    await page.getByText("Questions to people").waitFor();
    await page.getByText("checked").first().waitFor();
    await page.goto(`${shop.url}/console/workflows/run/${encodeURIComponent(runOf("ord-2032"))}`);
    await page.getByText("The order was given up and its stock given back.").first().waitFor();
  });

  test("what happens elsewhere shows without a reload, and a link shows what its sender saw", async () => {
    const page = await shop.visit("/console/queues?search=legacy&kind=work");
    const row = page.getByRole("row", { name: /legacy-import/ });
    await row.waitFor();
    await send("legacy-import", "fresh");
    await page.getByRole("row", { name: /legacy-import.*nobody works/ }).waitFor();
    expect(await page.getByLabel("Part of a name").inputValue()).toBe("legacy");
    expect(await page.getByLabel("Kind").inputValue()).toBe("work");
  });

  test("markup in a message, an error and a name is shown as text and never run", async () => {
    const body = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`;
    await openQueue("markup");
    await send("markup", body);
    const page = await shop.visit("/console/queues/markup");
    await page.getByText("<img src=x").first().click();
    await page.getByLabel("Body", { exact: true }).getByText("<script>").waitFor();
    await page.goto(`${shop.url}/console/queues/${encodeURIComponent("<script>1</script>")}`);
    await page.getByText(/TUNTAS_QUEUE_MISSING/).waitFor();
    expect(await page.title()).not.toBe("owned");
    expect(await page.locator("img, main script").count()).toBe(0);
  });

  test("while the server is away the page keeps what it has, says so, and goes on by itself", async () => {
    const page = await shop.visit("/console/queues");
    await page.getByText("payment-capture", { exact: true }).waitFor();
    await page.route("**/console/api/**", (route) => route.abort());
    await page.getByText("Disconnected.").waitFor();
    expect(await page.getByText("payment-capture", { exact: true }).isVisible()).toBe(true);
    await page.getByText(/As of .* ago/).waitFor();
    await page.unroute("**/console/api/**");
    await page.getByText("Live").waitFor();
    expect(await page.getByText("Disconnected.").count()).toBe(0);
  });

  test("a hidden tab asks nothing, and looks at once when it is seen again", async () => {
    const page = await shop.visit("/console/queues");
    await page.getByText("payment-capture", { exact: true }).waitFor();
    const see = (state: string) =>
      page.evaluate(
        `Object.defineProperty(document, "visibilityState", { value: "${state}", configurable: true });
         document.dispatchEvent(new Event("visibilitychange"));`,
      );
    await see("hidden");
    await page.waitForLoadState("networkidle");
    let asked = 0;
    page.on("request", () => asked++);
    await page.waitForTimeout(6000); // three rounds of polling
    expect(asked).toBe(0);
    const next = page.waitForRequest(/console\/api\/queues/);
    await see("visible");
    await next;
  });

  test("the first page takes few requests, and none elsewhere", async () => {
    const page = await shop.visit("/console/");
    await page.getByRole("region", { name: "To decide now" }).waitFor();
    const [reads, blocked] = await page.evaluate<[number, number]>(
      `[performance.getEntriesByType("resource").filter(({ name }) => !name.includes("/api/")).length,
        performance.getEntriesByType("resource").filter(({ name }) => !name.startsWith(location.origin)).length]`,
    );
    expect(blocked).toBe(0);
    expect(reads).toBeLessThan(20);
  });

  test("the first page stands after less than a second of the processor's time", async () => {
    const page = await shop.visit("about:blank");
    const cpu = await cpuOf(page);
    await page.goto(`${shop.url}/console/`);
    await page.getByRole("region", { name: "To decide now" }).waitFor();
    const paint = `performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? null`;
    const painted = await page.evaluate<number | null>(paint);
    const spent = await cpu();
    console.info(
      `first page: ${Math.round(spent * 1000)} ms of CPU, painted first after ${Math.round(painted ?? 0)} ms`,
    );
    expect(spent).toBeLessThan(1);
  });

  test("hostile text stays in its place: from right to left, long without a space, emoji", async () => {
    const bodies = ["\u202eevil \u0634\u062d\u0646\u0629", "x".repeat(10_000), "\u{1f525}".repeat(500)];
    await openQueue("hostile");
    for (const body of bodies) await send("hostile", body);
    const page = await shop.visit("/console/queues/hostile");
    await page.getByText("xxxxxxxx").first().click();
    await page.getByRole("complementary").getByText("xxxxxxxx").first().waitFor();
    const wider = (selector: string) =>
      page.evaluate<number>(
        `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector("${selector}"))`,
      );
    expect(await wider("html")).toBe(0);
    expect(await wider("aside.panel")).toBe(0);
    await page.getByText("\u{1f525}\u{1f525}").first().waitFor();
  });

  test("N-09 a queue's page says who shares it: what waits and runs of each tenant, its cap, its breaker", async () => {
    const deadLetter = { after: 9, owner: "documents", runbook: "runbooks/d.md", retention: "14d" } as const;
    const shared = queue("shared-documents", {
      message: z.object({ customer: z.string() }),
      tenant: ({ customer }) => customer,
      deadLetter,
    });
    let release!: () => void;
    const held = new Promise<void>((resolve) => (release = resolve));
    const work = worker(shared, {
      idempotencyKey: "none",
      timeout: "60s",
      tenants: { concurrency: 1, breaker: { failures: 1, standstill: "1h" } },
      handle({ customer }) {
        if (customer === "broken") throw new Error("its system is down");
        return held;
      },
    });
    const running = await start(app({ shared, work }), { platform: platform() });
    for (const customer of ["acme", "acme", "acme", "broken"]) await shared.send({ customer });
    const page = await shop.visit("/console/queues/shared-documents");
    const tenants = page.getByRole("region", { name: "Tenants" });
    await tenants.getByText("Stands still").waitFor();
    const rowOf = (tenant: string) => tenants.getByRole("row").filter({ hasText: tenant });
    expect((await rowOf("acme").innerText()).split(/\s*[\t\n]\s*/)).toEqual(
      expect.arrayContaining(["acme", "2", "1", "100 %", "Runs"]),
    );
    expect(await rowOf("broken").innerText()).toMatch(/Stands still\s+until/);
    release();
    await running.stop();
  });

  test("the theme that somebody chose stays", async () => {
    const page = await shop.visit("/console/", { colorScheme: "light" });
    const ground = () =>
      page.evaluate<string>("getComputedStyle(document.body.parentElement).backgroundColor");
    const before = await ground();
    await page.getByRole("button", { name: /Theme: system/ }).click();
    await page.getByRole("button", { name: /Theme: light/ }).click();
    await page.getByRole("button", { name: /Theme: dark/ }).waitFor();
    expect(await ground()).not.toBe(before);
    await page.reload();
    await page.getByRole("button", { name: /Theme: dark/ }).waitFor();
  });
});
