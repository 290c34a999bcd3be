// The commands and programs of the recipe for SQS's clients, as they stand, by those clients.
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

let kit: TestPlatform;
let gateway: Awaited<ReturnType<typeof startGateway>>;
let folder: string;
beforeAll(async () => {
  kit = await testPlatform();
  gateway = await startGateway({ platform: kit.platform, port: 0 });
  folder = mkdtempSync(join(cache, "sqs-"));
});
afterAll(async () => {
  await gateway.close();
  await kit[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
});

const blocks = (language: string): string[] =>
  blocksOf(new URL("sqs-clients.md", import.meta.url), language).map((block) =>
    block.replaceAll("4566", String(gateway.port)),
  );

const environment = {
  AWS_DEFAULT_REGION: "us-east-1",
  AWS_ACCESS_KEY_ID: "any",
  AWS_SECRET_ACCESS_KEY: "any",
};

async function run(program: string, ...args: string[]): Promise<string> {
  const options = { cwd: folder, env: { ...process.env, ...environment } };
  return (await promisify(execFile)(program, args, options)).stdout;
}

test.skipIf(!present("aws", "--version"))(
  "docs/recipes/sqs-clients.md, by the AWS CLI",
  { timeout: 300_000 },
  async () => {
    const [, credentials, walk] = blocks("sh");
    const said = await run("bash", "-ec", `${credentials}\n${walk}`);
    expect(said.match(/"Body": "Dear Ana"/g)).toHaveLength(2);
    expect(said).toMatch(/"Dear Ana",\s+"3"\s+\]\s+\]\s+$/);
  },
);

test.skipIf(!present("python3", "-c", "import boto3"))(
  "docs/recipes/sqs-clients.md, by boto3",
  { timeout: 120_000 },
  async () => {
    writeFileSync(join(folder, "steps.py"), blocks("python")[0]!);
    expect(await run("python3", "steps.py")).toBe("['one', 'two']\n");
  },
);

test(
  "docs/recipes/sqs-clients.md, by the JavaScript SDK and sqs-consumer",
  { timeout: 120_000 },
  async () => {
    writeFileSync(join(folder, "greet.mjs"), blocks("js")[0]!);
    expect(await run(process.execPath, "greet.mjs")).toBe("Hello Ana\n");
  },
);
