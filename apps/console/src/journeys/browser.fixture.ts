// The console of a shop, served as it is in earnest, and Debian's Chromium to look at it with.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import {
  chromium,
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type Page,
} from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe } from "vitest";
import type { AuditRecord } from "tuntas/access";
import { consolePages } from "tuntas/console";
import { startGateway } from "tuntas/gateway";
import { testPlatform, type TestPlatform } from "tuntas/testing";
import { openShop } from "./stage.fixture.ts";

const executablePath = process.env.TUNTAS_CHROMIUM ?? "/usr/bin/chromium";

/** Whether there is a browser here. */
const hasBrowser = existsSync(executablePath);

const webFolder = fileURLToPath(new URL("../../../../lib/dist/apps/console/web/", import.meta.url));

export interface Served extends AsyncDisposable {
  readonly kit: TestPlatform;
  readonly url: string;
}

const stepMs = 40_000;

/** What a page is waited for; a test, of many such waits, may take a little longer. */
const patienceMs = 220_000;

/** Ends one thing after another, and names the one that does not end. */
async function step(name: string, ending: PromiseLike<void> | undefined): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${name} did not close within ${stepMs} ms`)), stepMs);
  });
  await Promise.race([ending, late]).finally(() => clearTimeout(timer));
}

interface Opened extends AsyncDisposable {
  readonly apis?: Readonly<Record<string, string>>;
}

/** A console on a free port, of whatever `open` makes of its platform. */
export async function serveConsole(
  open: (kit: TestPlatform) => Promise<Opened | undefined> = async () => undefined,
): Promise<Served> {
  const kit = await testPlatform();
  const opened = await open(kit);
  const pages = consolePages({ platform: kit.platform, webFolder, apis: () => opened?.apis ?? {} });
  const gateway = await startGateway({ platform: kit.platform, port: 0, pages });
  return {
    kit,
    url: `http://127.0.0.1:${gateway.port}`,
    async [Symbol.asyncDispose]() {
      await step("the gateway", gateway.close());
      await step("what was opened", opened?.[Symbol.asyncDispose]());
      await step("the platform", kit[Symbol.asyncDispose]());
    },
  };
}

/** The shop's console. */
export const serveShop = (): Promise<Served> => serveConsole(({ platform }) => openShop(platform));

interface Visitor extends AsyncDisposable {
  readonly browser: Browser;
  /** A page in a context of its own. What the browser complains of is collected. */
  visit(address: string, options?: BrowserContextOptions): Promise<Page & { complaints: string[] }>;
}

async function openBrowser(base: string): Promise<Visitor> {
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  return {
    browser,
    async visit(address, options = {}) {
      const context = await browser.newContext({ viewport: { width: 1360, height: 860 }, ...options });
      const page = await context.newPage();
      // On a busy machine the console itself looks less often: its share of the database is bounded.
      page.setDefaultTimeout(patienceMs);
      const complaints: string[] = [];
      page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
      page.on("pageerror", (error) => complaints.push(String(error)));
      await page.goto(address.includes(":") ? address : base + address);
      return Object.assign(page, { complaints });
    },
    [Symbol.asyncDispose]: () => browser.close(),
  };
}

/** A console and a browser before it, for the tests of one file. */
export interface Journey {
  readonly url: string;
  readonly kit: TestPlatform;
  readonly platform: TestPlatform["platform"];
  visit: Visitor["visit"];
  /** The newest act of this kind on the record. */
  lastAct(action: string): Promise<AuditRecord>;
}

/** Serves a console and opens a browser for the tests in it; skipped where there is no browser. */
export function journey(name: string, serve: () => Promise<Served>, tests: (journey: Journey) => void): void {
  describe.skipIf(!hasBrowser)(name, { timeout: patienceMs + 20_000 }, () => {
    let served: Served;
    let visitor: Visitor;
    let kept: BrowserContext[];
    beforeAll(async () => {
      served = await serve();
      visitor = await openBrowser(served.url);
    }, patienceMs);
    afterAll(async () => {
      await visitor?.[Symbol.asyncDispose]();
      await served?.[Symbol.asyncDispose]();
    });
    // A page that stays open goes on asking, and what many ask is asked less often.
    beforeEach(() => void (kept = visitor.browser.contexts()));
    afterEach(async () => {
      const opened = visitor.browser.contexts().filter((context) => !kept.includes(context));
      await Promise.all(opened.map((context) => context.close()));
    });
    tests({
      get url() {
        return served.url;
      },
      get kit() {
        return served.kit;
      },
      get platform() {
        return served.kit.platform;
      },
      visit: (address, options) => visitor.visit(address, options),
      lastAct: async (action) => (await served.kit.platform.access.record({ action }, { limit: 1 }))[0]!,
    });
  });
}

/** Answers what tells how many seconds of the processor the page has taken since, however busy the machine is. */
export async function cpuOf(page: Page): Promise<() => Promise<number>> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const read = async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return metrics.find(({ name }) => name === "TaskDuration")!.value;
  };
  const before = await read();
  return async () => (await read()) - before;
}

/** Says why, and does it. */
export async function confirm(page: Page, verb: string, reason: string): Promise<void> {
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Why").fill(reason);
  await dialog.getByRole("button", { name: verb }).click();
}
