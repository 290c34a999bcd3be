// A queue of 100,000 messages in a browser: pages come as one scrolls, and only the rows that one sees are drawn.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defaultScope } from "tuntas/queue";
import { hasBrowser, openBrowser, serveConsole, type Served, type Visitor } from "./browser.fixture.ts";

const total = 100_000;

describe.skipIf(!hasBrowser)("a long list in a browser", () => {
  let served: Served;
  let browser: Visitor;
  beforeAll(async () => {
    served = await serveConsole();
    const { queues, database } = served.kit.platform;
    const { queue } = await queues.catalog.create(defaultScope, "long", {});
    await database.transaction(({ client }) =>
      client.query(
        `with sent as (
           insert into ${database.schema}.message (message_id, sent_at, sender, body)
           select gen_random_uuid(), now(), 'test', 'body ' || n from generate_series(1, ${total}) n returning id, sent_at)
         insert into ${database.schema}.ready (queue_id, id, sent_at) select $1, id, sent_at from sent`,
        [queue.id],
      ),
    );
    browser = await openBrowser(served.url);
  }, 120_000);
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await served?.[Symbol.asyncDispose]();
  });

  test("of 100,000 messages a screenful is drawn, and the next pages come with scrolling, none twice", async () => {
    const page = await browser.visit("/console/queues/long");
    await page.getByText("Ready 100,000+").waitFor();
    const list = page.getByRole("group", { name: "Messages, ready" });
    const rows = list.locator("tbody tr[data-index]");
    await rows.first().waitFor();
    await list.focus();
    const lastIndex = () => rows.last().getAttribute("data-index").then(Number);
    for (let reached = 0; reached < 1000; reached = await lastIndex()) {
      await page.keyboard.press("End");
      expect(await rows.count()).toBeLessThan(80);
    }
    await page.evaluate(
      "document.querySelector('[role=group][aria-label=\"Messages, ready\"]').scrollTo(0, 40 * 41)",
    );
    await list.getByText("body 41", { exact: true }).waitFor();
    const keys = await page.evaluate<string[]>(
      "[...document.querySelectorAll('tr[data-key]')].map((row) => row.dataset.key)",
    );
    expect(new Set(keys).size).toBe(keys.length);
    expect(page.complaints).toEqual([]);
  }, 120_000);
});
