// A one-off command in a browser: its form, its approval, its result, its evidence.
import { expect, test } from "vitest";
import { openCommands } from "./commands.fixture.ts";
import { confirm, journey, serveConsole } from "./browser.fixture.ts";

const serve = () => serveConsole(({ platform }) => openCommands(platform));

journey("one-off commands in a browser", serve, (shop) => {
  test("O-10 O-13 O-14: home says that one waits; its form is read, it is approved, its result seen, and it is closed with evidence", async () => {
    const page = await shop.visit("/console/");
    await page.getByRole("link", { name: /ada asks local to approve repair-case-ledger/ }).click();
    const before = page.getByRole("region", { name: "Before the run" });
    await before.getByText("run 1", { exact: true }).waitFor();
    await before.getByText("delete the entries that the output lists").waitFor();
    expect(await page.getByRole("button", { name: "Rate" }).count()).toBe(0);
    await page.getByRole("button", { name: "Approve", exact: true }).click();
    await confirm(page, "Approve", "the dry run is right");
    await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
    await page
      .getByRole("region", { name: "Result" })
      .getByText("42 read: 40 written, 2 skipped, 0 failed")
      .waitFor();
    await page.getByText("2 events are void and have no entry").waitFor();
    await page.getByRole("region", { name: "After the run" }).getByText("missing").waitFor();
    if (process.env.TUNTAS_LOOK) await page.screenshot({ path: process.env.TUNTAS_LOOK });
    await page.getByRole("button", { name: "Close with evidence" }).click();
    await page.getByLabel("Ticket or incident").fill("https://tickets.example/7");
    await confirm(page, "Close it", "the balance is right");
    await page.getByText("All seven records are on it now.").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
    await page.getByText("https://tickets.example/7").waitFor();
    expect(page.complaints).toEqual([]);
    expect(await shop.lastAct("command.close")).toMatchObject({ subject: "operation 2", actor: "local" });
  });

  test("C-06 C-12: over the API it is refused by role, by argument and by name, whatever the page would show", async () => {
    const page = await shop.visit("/console/");
    const ask = (body: object) =>
      page.evaluate(async (sent) => {
        const answer = await fetch("/console/api/command.run", {
          method: "POST",
          headers: { "content-type": "application/json", "x-tuntas-csrf": "" },
          body: JSON.stringify(sent),
        });
        return [answer.status, ((await answer.json()) as { code?: string }).code];
      }, body);
    const wanted = { name: "repair-case-ledger", arguments: { caseId: "case-1" }, reason: "try" };
    expect(await ask(wanted)).toEqual([403, "TUNTAS_COMMAND_DENIED"]);
    expect(await ask({ ...wanted, arguments: { caseId: "*" } })).toEqual([409, "TUNTAS_COMMAND_ARGUMENTS"]);
    expect(await ask({ ...wanted, name: "drop-tables" })).toEqual([404, "TUNTAS_COMMAND_MISSING"]);
  });
});
