// The console of a shop, served as it is in earnest, and Debian's Chromium to look at it with.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import { consolePages } from "tuntas/console";
import { startGateway } from "tuntas/gateway";
import { testPlatform, type TestPlatform } from "tuntas/testing";
import { openShop, type Shop } from "./stage.fixture.ts";

const executablePath = process.env.TUNTAS_CHROMIUM ?? "/usr/bin/chromium";

/** Whether there is a browser here. */
export const hasBrowser = existsSync(executablePath);

const webFolder = fileURLToPath(new URL("../../../../lib/dist/apps/console/web/", import.meta.url));

export interface Served extends AsyncDisposable {
  readonly kit: TestPlatform;
  readonly shop: Shop;
  readonly url: string;
}

/** The shop's console on a free port. */
export async function serveShop(): Promise<Served> {
  const kit = await testPlatform();
  const shop = await openShop(kit.platform);
  const pages = consolePages({ platform: kit.platform, webFolder });
  const gateway = await startGateway({ platform: kit.platform, port: 0, pages });
  return {
    kit,
    shop,
    url: `http://127.0.0.1:${gateway.port}`,
    async [Symbol.asyncDispose]() {
      await gateway.close();
      await shop[Symbol.asyncDispose]();
      await kit[Symbol.asyncDispose]();
    },
  };
}

export interface Visitor extends AsyncDisposable {
  readonly browser: Browser;
  /** A page in a context of its own. What the browser complains of is collected. */
  visit(address: string, options?: BrowserContextOptions): Promise<Page & { complaints: string[] }>;
}

export async function openBrowser(base: string): Promise<Visitor> {
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  return {
    browser,
    async visit(address, options = {}) {
      const context = await browser.newContext({ viewport: { width: 1360, height: 860 }, ...options });
      const page = await context.newPage();
      page.setDefaultTimeout(15_000);
      const complaints: string[] = [];
      page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
      page.on("pageerror", (error) => complaints.push(String(error)));
      await page.goto(base + address);
      return Object.assign(page, { complaints });
    },
    [Symbol.asyncDispose]: () => browser.close(),
  };
}
