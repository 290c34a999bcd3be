// The commands and programs of the recipe for EventBridge Scheduler's clients, as they stand, by those clients.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startGateway } from "tuntas/gateway";
import { testPlatform, type TestPlatform } from "tuntas/testing";
import { blocksOf, present } from "./kitchen.fixture.ts";

// Below the checkout, where programs in JavaScript find the packages.
const cache = fileURLToPath(new URL("../../node_modules/.cache/", import.meta.url));
const page = new URL("scheduler-clients.md", import.meta.url);

let kit: TestPlatform;
let gateway: Awaited<ReturnType<typeof startGateway>>;
let folder: string;
beforeAll(async () => {
  kit = await testPlatform();
  gateway = await startGateway({ platform: kit.platform, port: 0 });
  folder = mkdtempSync(join(cache, "scheduler-"));
});
afterAll(async () => {
  await gateway.close();
  await kit[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
});

const blocks = (language: string): string[] =>
  blocksOf(page, language).map((block) => block.replaceAll("4566", String(gateway.port)));

/** Runs the command where the page's first one was run. */
async function run(command: string): Promise<string> {
  const script = `${blocks("sh")[0]}\n${command}`;
  return (await promisify(execFile)("bash", ["-ec", script], { cwd: folder })).stdout;
}

test.skipIf(!present("aws", "--version"))(
  "docs/recipes/scheduler-clients.md, by the AWS CLI",
  { timeout: 300_000 },
  async () => {
    const said = await run(blocks("sh")[1]!);
    expect(said).toContain(
      '"ScheduleArn": "arn:aws:scheduler:us-east-1:000000000000:schedule/default/greet"',
    );
    expect(said).toMatch(/"Dear Ana, it is \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"/);
    expect(said).toMatch(/"greet",\s+"ENABLED",\s+"arn:aws:sqs:us-east-1:000000000000:mail"/);
    expect(await kit.platform.schedules.list()).toEqual([]);
  },
);

test.skipIf(!present("python3", "-c", "import boto3"))(
  "docs/recipes/scheduler-clients.md, by boto3",
  { timeout: 120_000 },
  async () => {
    writeFileSync(join(folder, "close.py"), blocks("python")[0]!);
    expect(await run("python3 close.py")).toBe("True\n");
  },
);

test("docs/recipes/scheduler-clients.md, by the JavaScript SDK", { timeout: 120_000 }, async () => {
  writeFileSync(join(folder, "remind.mjs"), blocks("js")[0]!);
  expect(await run("node remind.mjs")).toBe("Dear Ana queue reminders does not exist\n");
});
