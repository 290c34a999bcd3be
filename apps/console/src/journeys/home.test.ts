import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasBrowser, openBrowser, serveShop, type Served, type Visitor } from "./browser.fixture.ts";

describe.skipIf(!hasBrowser)("the console in a browser", () => {
  let shop: Served;
  let browser: Visitor;
  beforeAll(async () => {
    shop = await serveShop();
    browser = await openBrowser(shop.url);
  });
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await shop?.[Symbol.asyncDispose]();
  });

  test("home lists what needs a person, each with whose it is and one next act", async () => {
    const page = await browser.visit("/");
    await page.getByRole("heading", { name: "Needs a decision" }).waitFor();
    const lines = page.getByRole("list", { name: "Decisions" }).getByRole("listitem");
    await lines.first().waitFor();
    const texts = await lines.allInnerTexts();
    expect(texts.join("\n")).toMatch(/dead letters of payment-capture[^]*payments-team/);
    await page.screenshot({ path: "/tmp/hG-home.png", fullPage: true });
    expect(page.complaints).toEqual([]);
  });
});
