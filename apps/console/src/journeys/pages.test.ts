// Every page, light and dark, wide and narrow: it draws, the browser has nothing to complain of, and axe finds nothing
// that keeps people out. `npm run screenshots` keeps the pictures.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { journey, serveShop } from "./browser.fixture.ts";
import { pagesOfShop } from "./tour.fixture.ts";

const picturesFolder = fileURLToPath(new URL("../../../../docs/console/", import.meta.url));
const keepsPictures = process.env.TUNTAS_PICTURES === "write";

/** Of these a picture on a phone is kept too. */
const onPhone = ["home", "approvals", "queue", "cause", "run waiting", "run waterfall", "try message"];

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** What keeps people out, by axe's rules; in other colours by those of colours. */
async function violationsOf(page: Page, rules: "all" | "colours" = "all"): Promise<string[]> {
  await page.evaluate(axe);
  const options = {
    resultTypes: ["violations"],
    ...(rules === "colours" && { runOnly: ["color-contrast"] }),
  };
  const violations = await page.evaluate<Violation[]>(
    `axe.run(document, ${JSON.stringify(options)}).then((found) => found.violations)`,
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary ?? ""}`),
  );
}

/** Ages grow: whatever the test came across, as long as one ever reads. */
const growOld = (page: Page) =>
  page.evaluate(
    `for (const age of document.querySelectorAll("td time[datetime^=PT], td .number, .figures dd"))
      if (/^(just now|[\\d.]+ (ms|s|min|h|d)( \\d+ \\w+)?)$/.test(age.innerText)) age.textContent = "9 h 59 min";`,
  );

/** Heads, figures, states and buttons of which a part cannot be read. Names and texts may be long, and end in dots. */
const cutOff = (page: Page) =>
  page.evaluate<string[]>(
    `[...document.querySelectorAll("th, td.right, td:has(> .badge:only-child), td:has(> button), .figures dd, .button")]
      .filter((each) => each.clientWidth > 0 && each.scrollWidth > each.clientWidth + 1)
      .map((each) => each.innerText)`,
  );

const desk = { width: 1360, height: 860 };
const phone = { width: 390, height: 844 };

/** By how many pixels the page is wider than its window. */
const overflowOf = (page: Page) =>
  page.evaluate<number>("document.documentElement.scrollWidth - document.documentElement.clientWidth");

journey("every page of the console in a browser", serveShop, (shop) => {
  // One reader goes through all pages: a browser that begins anew for each takes twice as long, and so does one for each colour.
  describe("light, then dark", () => {
    let page: Awaited<ReturnType<typeof shop.visit>>;
    beforeAll(async () => {
      page = await shop.visit("/console/", { viewport: desk, reducedMotion: "reduce" });
    });
    afterAll(() => page.context().close());

    test.each(pagesOfShop)("$name", async ({ name, address, shows, act }) => {
      page.complaints.length = 0;
      await page.emulateMedia({ colorScheme: "light" });
      await page.goto(`${shop.url}/console${address}`);
      await page.getByText(shows).locator("visible=true").first().waitFor();
      await act?.(page);
      await page.waitForFunction("document.fonts.status === 'loaded'");
      if (keepsPictures && !address.startsWith("/try")) await page.getByText("Live").first().waitFor();
      await keep(page, `${name} light`);
      expect(await violationsOf(page)).toEqual([]);
      await page.emulateMedia({ colorScheme: "dark" });
      await keep(page, `${name} dark`);
      expect(await violationsOf(page, "colours")).toEqual([]);
      await growOld(page);
      expect(await cutOff(page)).toEqual([]);
      if (!act) {
        await page.setViewportSize(phone);
        expect(await overflowOf(page)).toBe(0);
        await page.setViewportSize(desk);
      }
      expect(page.complaints).toEqual([]);
    });
  });

  const keep = (page: Page, name: string) =>
    keepsPictures
      ? page.screenshot({ path: `${picturesFolder}${name.replaceAll(" ", "-")}.png` })
      : undefined;

  // Where nothing is done but to look, the reader above has made the window as small.
  test("on a phone every page that one acts on fits, and the menu slides in", async () => {
    const page = await shop.visit("/console/", {
      viewport: phone,
      hasTouch: true,
      reducedMotion: "reduce",
    });
    const actedOn = pagesOfShop.filter(({ name, act }) => act || (keepsPictures && onPhone.includes(name)));
    for (const { name, address, shows, act } of actedOn) {
      await page.goto(`${shop.url}/console${address}`);
      await page.getByText(shows).locator("visible=true").first().waitFor();
      await act?.(page);
      expect({ name, overflow: await overflowOf(page) }).toEqual({ name, overflow: 0 });
      if (onPhone.includes(name)) await keep(page, `${name} phone`);
    }
    await page.goto(`${shop.url}/console/`);
    await page.getByRole("button", { name: "Pages" }).click();
    await page.getByRole("navigation", { name: "Pages" }).getByText("Dead letters").click();
    await page.getByRole("heading", { name: "Dead letters", level: 1 }).waitFor();
    expect(page.complaints).toEqual([]);
  }, 400_000);

  test.each(["light", "dark"] as const)(
    "as soon as there is a user, people sign in first, %s",
    async (colorScheme) => {
      const { users } = shop.kit.platform.access;
      const by = { actor: "test", from: "test" };
      if ((await users.list()).length === 0)
        await users.add({ name: "ada", role: "viewer", password: "a long enough password" }, by);
      const page = await shop.visit("/console/queues", { colorScheme, reducedMotion: "reduce" });
      await page.getByRole("heading", { name: "Sign in" }).waitFor();
      await keep(page, `sign in ${colorScheme}`);
      expect(await violationsOf(page)).toEqual([]);
      await page.getByLabel("Name").fill("ada");
      await page.getByLabel("Password").fill("a long enough password");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Queues", level: 1 }).waitFor();
      await page.getByText("ada · viewer").waitFor();
    },
  );
});
