// A queue of 100,000 messages in a browser: pages come as one scrolls, and only the rows that one sees are drawn.
import { expect, test } from "vitest";
import { defaultScope } from "tuntas/queue";
import { cpuOf, journey, serveConsole, type Served } from "./browser.fixture.ts";

const total = 100_000;

/** A console of a queue with that many messages. */
async function serveLong(): Promise<Served> {
  const served = await serveConsole();
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
  return served;
}

journey("a long list in a browser", serveLong, (served) => {
  test("a screen further takes less of the processor than a frame has, rows that come in from the server included", async () => {
    const page = await served.visit("/console/queues/long");
    const list = page.getByRole("group", { name: "Messages, ready" });
    await list.locator("tbody tr[data-index]").first().waitFor();
    const cpu = await cpuOf(page);
    const frames = await page.evaluate<number>(`new Promise((done) => {
      const list = document.querySelector('[role=group][aria-label="Messages, ready"]');
      let frames = 0;
      const step = () => {
        list.scrollBy(0, 240);
        if (++frames < 60) requestAnimationFrame(step);
        else done(frames);
      };
      requestAnimationFrame(step);
    })`);
    const ms = ((await cpu()) * 1000) / frames;
    console.info(`a frame of scrolling: ${ms.toFixed(1)} ms of CPU over ${frames} frames`);
    expect(ms).toBeLessThan(16);
  }, 240_000);

  test("of 100,000 messages a screenful is drawn, and the next pages come with scrolling, none twice", async () => {
    const page = await served.visit("/console/queues/long");
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
