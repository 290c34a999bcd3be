// The pages of backfills in a browser: what a person looks at before an approval, while a run runs and after it has stopped, and
// what acts come to.
import { expect, test } from "vitest";
import type { Page } from "playwright-core";
import { openBackfills, solo } from "./backfills.fixture.ts";
import { confirm, journey, serveConsole } from "./browser.fixture.ts";

journey(
  "backfills in a browser",
  () => serveConsole(({ platform }) => openBackfills(platform)),
  (shop) => {
    const done = (page: Page) => page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
    const runOf = async (city: string) =>
      (await shop.platform.backfills.runs()).find(({ scope }) => scope === JSON.stringify({ city }))!;
    /** Presses a button of the run, says why, and reads what it came to. */
    async function say(page: Page, button: string, verb: string): Promise<void> {
      await page.getByRole("button", { name: button, exact: true }).click();
      await confirm(page, verb, "ticket 118");
      await done(page);
    }

    test("home asks for an approval; the dry run is looked at, the run approved, begun, verified, and undone", async () => {
      const page = await shop.visit("/console/");
      await page
        .getByRole("link", {
          name: /Look at the dry run : Run \d+ of invoice-fees waits for an approval by another than ana/,
        })
        .click();
      await page.getByText("Another person than ana looks at the dry run").waitFor();
      await page
        .getByRole("row", { name: /fee: 2 → 3/ })
        .first()
        .waitFor();
      await page.getByRole("link", { name: "Failures", exact: true }).click();
      await page.getByRole("row", { name: /TARIFF_UNKNOWN/ }).waitFor();
      await say(page, "Approve", "Approve it");
      expect(await shop.lastAct("backfill.approved")).toMatchObject({ actor: "local", reason: "ticket 118" });
      await say(page, "Start", "Start it");
      await page.getByText("Its verification found nothing wrong").waitFor();
      const { id, handled, final, failed } = await runOf("Bandung");
      expect({ handled, final, failed }).toEqual({ handled: 269, final: 30, failed: 1 });
      await page.getByRole("button", { name: "Undo" }).click();
      await page.getByText("the fee is rounded down again").first().waitFor();
      await page.getByLabel("Type invoice-fees to confirm").fill("invoice-fees");
      await confirm(page, "Undo it", "the fee was right");
      await done(page);
      await page.getByText("were handled and are undone").waitFor();
      await page.getByRole("link", { name: "Record", exact: true }).click();
      await page.getByRole("row", { name: /local backfill\.rolling_back the fee was right/ }).waitFor();
      expect((await runOf("Bandung")).state).toBe("rolled_back");
      expect(await shop.lastAct("backfill.rolling_back")).toMatchObject({ subject: `run ${id}` });
      expect(page.complaints).toEqual([]);
    });

    test("home says that a run has stopped; what its verification found is there, and it is verified again", async () => {
      const page = await shop.visit("/console/");
      await page.getByRole("link", { name: /Run \d+ of invoice-taxes has stopped in trouble/ }).click();
      await page.getByText("3 invoices have no tariff").first().waitFor();
      expect(await page.getByRole("button", { name: "Resume" }).count()).toBe(0);
      solo.isMended = true;
      await say(page, "Verify again", "Verify it");
      await page.getByText("Its verification found nothing wrong").waitFor();
      expect((await runOf("Solo")).state).toBe("completed");
    });

    test("a run says what slows it; its rate is changed, it is paused, resumed and aborted", async () => {
      const { id } = await runOf("Malang");
      const page = await shop.visit("/console/backfills");
      await page.getByRole("row", { name: /address-cities .* running/ }).click();
      await page
        .getByText(/It takes \d+ of 100 records a second: a statement .* \(slow above 20ms\)/)
        .waitFor();
      await page.getByRole("button", { name: "Change the rate" }).click();
      await page.getByLabel("Records a second").fill("50");
      await confirm(page, "Change it", "the shop is slow");
      await done(page);
      await page.getByText("of 50", { exact: true }).waitFor();
      expect(await shop.lastAct("backfill.rate")).toMatchObject({ subject: `run ${id}` });
      await say(page, "Pause", "Pause it");
      await page.getByText("Nothing more of it is begun until somebody resumes it").waitFor();
      await say(page, "Resume", "Resume it");
      await page.getByRole("button", { name: "Abort" }).click();
      await page.getByLabel("Type address-cities to confirm").fill("address-cities");
      await confirm(page, "Abort it", "the wrong city");
      await done(page);
      await page.getByText(/A person ended it/).waitFor();
      expect((await runOf("Malang")).state).toBe("aborted");
      expect(page.complaints).toEqual([]);
    });

    test("who planned a run cannot approve it; the palette finds a backfill, and its runs are listed", async () => {
      const local = { by: "local", reason: "ticket 119" };
      const { backfills } = shop.platform;
      const { runId } = await backfills.plan("invoice-taxes", { city: "Medan" }, local);
      await backfills.settled(runId);
      await backfills.say("dry-run", runId, local);
      await backfills.settled(runId);
      const page = await shop.visit(`/console/backfills/${runId}`);
      await page.getByRole("button", { name: "Approve" }).click();
      await confirm(page, "Approve it", "ticket 119");
      await page.getByText("TUNTAS_BACKFILL_FOUR_EYES").waitFor();
      await page.keyboard.press("Escape");
      await page.keyboard.press("Control+k");
      await page.keyboard.type("invoice-t");
      await page.getByRole("option", { name: "invoice-taxes Backfill" }).click();
      await page.getByRole("row", { name: /invoice-taxes .*Medan.* an approval, not by local/ }).waitFor();
      await page.getByRole("row", { name: /invoice-fees/ }).waitFor({ state: "detached" });
    });

    test("a viewer sees what was found, not what is in the records, and does nothing", async () => {
      const { users } = shop.platform.access;
      await users.add(
        { name: "vera", role: "viewer", password: "a long enough password" },
        { actor: "t", from: "t" },
      );
      const { id } = await runOf("Solo");
      const page = await shop.visit(`/console/backfills/${id}`);
      await page.getByLabel("Name").fill("vera");
      await page.getByLabel("Password").fill("a long enough password");
      await page.keyboard.press("Enter");
      await page.getByText("Records are not shown").waitFor();
      expect(await page.getByRole("button", { name: "Undo" }).isDisabled()).toBe(true);
      const statuses = await page.evaluate<number[]>(
        `Promise.all(["backfill.say", "backfill.approve", "backfill.rate"].map((act) => fetch("/console/api/" + act, { method: "POST", body: "{}" }).then(({ status }) => status)))`,
      );
      expect(statuses).toEqual([403, 403, 403]);
    });
  },
);
