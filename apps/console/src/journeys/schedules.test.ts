// The schedules' pages in a browser: what they show, and what acts come to.
import { expect, test } from "vitest";
import type { Page } from "playwright-core";
import { confirm, journey, serveConsole } from "./browser.fixture.ts";
import { openSchedules } from "./schedules.fixture.ts";

const serve = () => serveConsole(({ platform }) => openSchedules(platform));

journey("schedules in a browser", serve, (shop) => {
  const done = (page: Page) => page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
  const find = (name: string) => shop.platform.schedules.find(name);

  test("home says what is paused; the schedule says by whom and why, and goes on with who and why on the record", async () => {
    const page = await shop.visit("/console/");
    await page.getByRole("link", { name: "Look at it : basket-reminders is paused by mira" }).click();
    await page.getByRole("heading", { name: "basket-reminders", level: 1 }).waitFor();
    await page.getByText("the mail provider is changed this week").waitFor();
    await page.getByRole("button", { name: "Resume" }).click();
    await confirm(page, "Resume it", "the new provider works");
    await page.getByText("It is due next at").waitFor();
    await done(page);
    await page.getByRole("button", { name: "Pause" }).waitFor();
    expect((await find("basket-reminders")).pausedAtMs).toBeNull();
    expect(await shop.lastAct("schedule.resume")).toMatchObject({
      subject: "schedule basket-reminders",
      actor: "local",
      reason: "the new provider works",
    });
    await page.getByRole("link", { name: "Record" }).click();
    await page.getByRole("row", { name: /local schedule\.resume the new provider works/ }).waitFor();
    await page.getByRole("row", { name: /mira schedule\.pause/ }).waitFor();
    expect(page.complaints).toEqual([]);
  });

  test("with the keyboard alone: to the schedule, and a window that failed runs again, which shows without a reload", async () => {
    const page = await shop.visit("/console/");
    await page.getByRole("heading", { name: "Needs a decision" }).waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("c");
    await page.getByRole("row", { name: /nightly-statements/ }).waitFor();
    await page.getByRole("group", { name: "Schedules" }).focus();
    await page.keyboard.press("j");
    for (let row = 0; row < 2; row++) await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "nightly-statements", level: 1 }).waitFor();
    const failed = page.getByRole("row", { name: /failed the clock .*not balanced/ });
    await failed.focus();
    await page.keyboard.press("Enter");
    const panel = page.getByRole("complementary", { name: "Occurrence" });
    await panel.getByText("02:00").first().waitFor();
    await panel.getByRole("button", { name: "Run its window again" }).focus();
    await page.keyboard.press("Enter");
    await confirm(page, "Run it", "the ledger was corrected once more");
    await page.getByText("Run 2 of this window is running").waitFor();
    await done(page);
    await page.getByRole("row", { name: /succeeded local .*once more/ }).waitFor();
    expect(await shop.lastAct("schedule.run")).toMatchObject({ subject: "schedule nightly-statements" });
    await page.keyboard.press("Escape");
    await page.getByRole("complementary").waitFor({ state: "detached" });
  });

  test("what runs is told with its message, and what is asked for meanwhile waits for it", async () => {
    const page = await shop.visit("/console/schedules/stock-export");
    await page.getByRole("heading", { name: "What runs, and what waits" }).waitFor();
    await page.getByRole("button", { name: "Run it now" }).click();
    await page.getByText("It waits until what runs has ended").waitFor();
    await confirm(page, "Run it", "for the auditors");
    await page.getByText("Run 1 of this window is waiting").waitFor();
    await done(page);
    await page.getByText("1 until what runs has ended").waitFor();
    await page
      .getByRole("row", { name: /running the clock/ })
      .getByRole("link", { name: "Message" })
      .click();
    await page.getByRole("complementary", { name: "Message" }).getByText("stock-export").first().waitFor();
    expect(page.complaints).toEqual([]);
  });

  test("one whose success did not come is overdue; it is paused, and its instants stand in its own zone", async () => {
    const page = await shop.visit("/console/schedules/book-close");
    await page.getByText("A success was expected by").waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    await confirm(page, "Pause it", "the books are closed by hand");
    await page.getByText("Nothing of it becomes due").waitFor();
    await done(page);
    await page.getByText("overdue").first().waitFor();
    await page.goto(`${shop.url}/console/schedules/book-close?view=to-come`);
    await page.getByText("once it is resumed").waitFor();
    await page.getByRole("table", { name: "To come" }).getByText("03:00").first().waitFor();
    await page.goto(`${shop.url}/console/schedules/nothing`);
    await page.getByText("TUNTAS_SCHEDULE_MISSING").waitFor();
  });

  test("a viewer sees all of it and does nothing", async () => {
    const { users } = shop.platform.access;
    await users.add(
      { name: "vera", role: "viewer", password: "a long enough password" },
      { actor: "t", from: "t" },
    );
    const page = await shop.visit("/console/schedules/nightly-statements");
    await page.getByLabel("Name").fill("vera");
    await page.getByLabel("Password").fill("a long enough password");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "nightly-statements", level: 1 }).waitFor();
    for (const name of ["Run it now", "Pause"])
      expect(await page.getByRole("button", { name }).isDisabled()).toBe(true);
    const answer = await page.evaluate<number>(
      `fetch("/console/api/schedule.run", { method: "POST", body: "{}" }).then(({ status }) => status)`,
    );
    expect(answer).toBe(403);
  });
});
