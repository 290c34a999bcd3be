// The services' pages in a browser, before real processes: what they show, and what acts come to.
import { expect, test } from "vitest";
import type { Page } from "playwright-core";
import { confirm, journey, serveConsole } from "./browser.fixture.ts";
import { openServices } from "./services.fixture.ts";

const serve = () => serveConsole(({ platform }) => openServices(platform));

journey("services in a browser", serve, (shop) => {
  const services = () => shop.platform.services;
  const storefront = () => services().describe("storefront");
  const done = (page: Page) => page.getByRole("dialog").getByRole("button", { name: "Close" }).click();

  test("home says that a deployment was rolled back; the service shows it batch by batch, with its instances", async () => {
    const page = await shop.visit("/console/");
    await page
      .getByRole("link", { name: "Look at it : A deployment of storefront failed and was rolled back" })
      .click();
    await page.getByRole("heading", { name: "storefront", level: 1 }).waitFor();
    await page.getByText("Revision 1 again, since deployment").waitFor();
    await page.getByRole("table", { name: "Instances" }).getByText("healthy").first().waitFor();
    await page.getByRole("link", { name: "Deployments and revisions" }).click();
    await page.getByRole("table", { name: "Deployments" }).getByText("failed", { exact: true }).click();
    const panel = page.getByRole("complementary", { name: "Deployment" });
    await panel.getByText("Batch 1").waitFor();
    await panel
      .getByText(/it ended by itself/)
      .first()
      .waitFor();
    await page.getByText(/environment\.CURRENCY changed; version "2026.11.3" →/).waitFor();
    expect(await page.getByText("euro", { exact: true }).count()).toBe(0);
    expect(page.complaints).toEqual([]);
  });

  test("an instance that ended says how, and what it printed", async () => {
    const page = await shop.visit("/console/services/storefront");
    await page
      .getByRole("row", { name: /status 3/ })
      .first()
      .click();
    await page.getByLabel("What it printed").getByText('CURRENCY: expected EUR, got "euro"').waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("complementary").waitFor({ state: "detached" });
  });

  test("with the keyboard alone: to the service, and one more instance, which shows without a reload", async () => {
    const page = await shop.visit("/console/");
    await page.getByRole("heading", { name: "Needs a decision" }).waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("s");
    await page.getByRole("row", { name: /storefront/ }).waitFor();
    await page.getByRole("group", { name: "Services" }).focus();
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "storefront", level: 1 }).waitFor();
    await page.getByRole("button", { name: "Scale" }).focus();
    await page.keyboard.press("Enter");
    await page.getByLabel(/Instances 1 to 3/).fill("3");
    await confirm(page, "Scale", "the sale goes well");
    await page.getByText("3 are to run now.").waitFor();
    await done(page);
    await page.getByText("3 of 3").waitFor();
    await page.getByText("2 → 3").waitFor();
    expect(await shop.lastAct("service.scale")).toMatchObject({
      subject: "service storefront",
      actor: "local",
      reason: "the sale goes well",
    });
  });

  test("an instance that is stopped is replaced, and a revision is deployed again, with who and why on the record", async () => {
    const page = await shop.visit("/console/services/storefront");
    const [first] = (await storefront()).instances.filter(({ state }) => state === "running");
    await page.getByRole("row", { name: new RegExp(`^${first!.id} healthy`) }).click();
    await page.getByRole("button", { name: "Stop it" }).click();
    await confirm(page, "Stop it", "it answers slowly");
    await page.getByText("another takes its place").waitFor();
    await done(page);
    await page.getByRole("row", { name: new RegExp(`^${first!.id} .*a person stopped it`) }).waitFor();
    await expect.poll(async () => (await storefront()).healthy).toBe(3);
    await page.goto(`${shop.url}/console/services/storefront?view=history`);
    await page.getByRole("button", { name: "Deploy anew revision 1" }).click();
    await confirm(page, "Deploy", "new certificates");
    await page.getByText("is under way").waitFor();
    await done(page);
    await expect.poll(async () => await storefront()).toMatchObject({ revision: 3, deployment: "completed" });
    await page.goto(`${shop.url}/console/services/storefront?view=record`);
    await page.getByRole("row", { name: /local service\.deploy new certificates/ }).waitFor();
    await page
      .getByRole("row", { name: /completed/ })
      .first()
      .waitFor();
  });

  test("stopping a service wants its name; what nobody may deploy again says so", async () => {
    const page = await shop.visit("/console/services/storefront");
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Why").fill("the shop closes");
    const stop = dialog.getByRole("button", { name: "Stop every instance" });
    expect(await stop.isDisabled()).toBe(true);
    await dialog.getByLabel(/Type/).fill("storefront");
    await stop.click();
    await page.getByText("None is to run").waitFor();
    await done(page);
    await expect.poll(async () => (await storefront()).running).toBe(0);
    await page.goto(`${shop.url}/console/services/price-feed`);
    await page.getByRole("button", { name: "Roll back" }).click();
    await confirm(page, "Roll back", "14 was wrong");
    await page.getByRole("alert").getByText("TUNTAS_SERVICE_REVISION").waitFor();
    await page.goto(`${shop.url}/console/services/nothing`);
    await page.getByText("TUNTAS_SERVICE_MISSING").waitFor();
  });

  test("a viewer sees all of it, does nothing, and does not read what programs print", async () => {
    const { users } = shop.platform.access;
    await users.add(
      { name: "vera", role: "viewer", password: "a long enough password" },
      { actor: "t", from: "t" },
    );
    const page = await shop.visit("/console/services/storefront");
    await page.getByLabel("Name").fill("vera");
    await page.getByLabel("Password").fill("a long enough password");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "storefront", level: 1 }).waitFor();
    expect(await page.getByRole("button", { name: "Scale" }).isDisabled()).toBe(true);
    await page
      .getByRole("row", { name: /^\d+ stopped/ })
      .first()
      .click();
    await page.getByText("Your role does not read it").waitFor();
    const { id } = (await storefront()).instances[0]!;
    const answer = await page.evaluate<number>(
      `fetch("/console/api/service.output?service=storefront&id=${id}").then(({ status }) => status)`,
    );
    expect(answer).toBe(403);
  });
});
