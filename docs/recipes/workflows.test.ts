// The code of the workflow recipes runs as it stands: against the built package, in a database of its own.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { testPlatform } from "tuntas/testing";
import { startGateway } from "tuntas/gateway";
import { blocksOf, openKitchen, present, type Kitchen } from "./kitchen.fixture.ts";

let kitchen: Kitchen;
beforeAll(async () => void (kitchen = await openKitchen("workflows")));
afterAll(() => kitchen.close());

const rows = async (text: string) => (await kitchen.client.query(text)).rows;
const execution = async (name: string) =>
  (await rows(`select status, output, error, cause from tuntas.execution where name = '${name}'`))[0];

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
}

/** Runs the work with the variable set, as a process would be started with it. */
async function withVariable(name: string, value: string, work: () => Promise<void>): Promise<void> {
  process.env[name] = value;
  try {
    await work();
  } finally {
    delete process.env[name];
  }
}

test("docs/recipes/calls.md: an endpoint carries tasks out, fails one, and is asked again; a handler does the rest", async () => {
  const { start, endpoint, mixed, app } = await kitchen.recipe("calls", ["app"]);
  await withVariable("TUNTAS_TASK_ENDPOINT", await listen(endpoint), async () => {
    await using running = await start(app({ mixed }), { databaseUrl: kitchen.url });
    await mixed.start({ id: "p1" }, { name: "mixed" });
    await expect
      .poll(() => execution("mixed"))
      .toMatchObject({ status: "SUCCEEDED", output: '{"verdict":"p1 is fine"}' });
    void running;
  });
  endpoint.close();
});

test("H-01 docs/recipes/callbacks.md: the webhook's change and the answer are one, and a second answer changes nothing", async () => {
  const { start, default: application, parcel, pickedUp } = await kitchen.recipe("callbacks");
  await kitchen.client.query("create table pickup (parcel_id text, reference text, status text)");
  await using running = await start(application, { databaseUrl: kitchen.url });
  await parcel.start({ parcelId: "p1" }, { name: "parcel" });
  const status = async () => (await rows("select status from pickup"))[0]?.status;
  await expect.poll(status).toBe("ORDERED");
  const answered = async () => pickedUp(running.platform, "p1", "ben").then(() => true);
  await expect.poll(() => answered().catch(() => false)).toBe(true);
  await expect.poll(() => execution("parcel")).toMatchObject({ status: "SUCCEEDED", output: '{"by":"ben"}' });
  await kitchen.client.query("update pickup set status = 'LOST'");
  await expect(pickedUp(running.platform, "p1", "eve")).rejects.toMatchObject({ code: "TUNTAS_ANSWER_LATE" });
  expect(await status()).toBe("LOST");
});

test("batch-02 docs/recipes/distributed-map.md: a bad row fails alone, and each good one is booked once", async () => {
  const { start, default: application, bookings } = await kitchen.recipe("distributed-map");
  await kitchen.client.query("create table booking (id text, amount int)");
  const file = ["id,amount", "a,1", "b,2", "c,three", "d,4"].join("\n");
  const store = createServer((request, response) => {
    response.statusCode = request.url === "/in/rows.csv" ? 200 : 404;
    response.end(file);
  });
  await withVariable("AWS_ENDPOINT_URL_S3", await listen(store), async () => {
    await using running = await start(application, { databaseUrl: kitchen.url });
    const { arn } = await bookings.start({ bucket: "in", key: "rows.csv" }, { name: "bookings" });
    await expect
      .poll(() => execution("bookings"))
      .toMatchObject({ status: "SUCCEEDED", output: '{"booked":3}' });
    expect(await rows("select id, amount from booking order by id")).toEqual([
      { id: "a", amount: 1 },
      { id: "b", amount: 2 },
      { id: "d", amount: 4 },
    ]);
    const { executions } = running.platform.workflows;
    const page = { limit: 10, offset: 0 };
    const [run] = await executions.mapRuns((await executions.find(arn))!, page);
    const [failed] = await executions.children(run.arn, { status: "FAILED" }, page);
    expect(await executions.find(failed.arn)).toMatchObject({
      error: "BadAmount",
      input: '{"id":"c","amount":"three"}',
    });
  });
  store.close();
});

describe("docs/recipes/builder.md", () => {
  test("it compiles to a document that runs", async () => {
    const { start, app, ordering } = await kitchen.recipe("builder", ["app"]);
    const { testWorkflow } = await import("tuntas/testing");
    const lines = [{ sku: "a", count: 2 }];
    const run = (answers: Record<string, unknown>) =>
      testWorkflow(ordering, {
        input: { orderId: "o1", lines },
        mocks: {
          Reserve: () => ({ sku: "a", price: 6 }),
          Charge: () => ({ chargeId: "c", status: "OPEN" }),
          Undo: ({ why }) => ({ undone: why }),
          ...answers,
        } as never,
      });
    const statuses = ["OPEN", "OPEN", "PAID"];
    const look = () => ({ chargeId: "c", status: statuses.shift() });
    expect(await run({ Look: look })).toMatchObject({
      durationMs: 180_000,
      output: { chargeId: "c", coupon: "none", large: false },
    });
    expect(await run({ Look: () => ({ chargeId: "c", status: "REFUSED" }) })).toMatchObject({
      error: "OrderFailed",
      cause: "refused",
    });
    await using running = await start(app({ ordering }), { databaseUrl: kitchen.url });
    await ordering.start({ orderId: "o2", lines: [{ sku: "a", count: 101 }] }, { name: "stock" });
    await expect.poll(() => execution("stock")).toMatchObject({ error: "OrderFailed", cause: "OutOfStock" });
    void running;
  });
});

const hasTools = present("aws", "--version") && present("python3", "-c", "import boto3");

test.skipIf(!hasTools)(
  "docs/recipes/step-functions-clients.md and versions.md, by the AWS CLI and boto3",
  { timeout: 300_000 },
  async () => {
    const blocks = (page: string, language: string) => blocksOf(new URL(page, import.meta.url), language);
    const clients = "step-functions-clients.md";
    await using kit = await testPlatform();
    const gateway = await startGateway({ platform: kit.platform, port: 0 });
    const folder = mkdtempSync(join(tmpdir(), "tuntas-clients-"));
    try {
      writeFileSync(join(folder, "hello.asl.json"), blocks(clients, "json")[0]!);
      writeFileSync(join(folder, "try.py"), blocks(clients, "python")[0]!);
      const [where, ...rest] = blocks(clients, "sh");
      const shell = [where!.replace("4566", String(gateway.port)), ...rest, "python3 try.py"];
      const script = [...shell, ...blocks("versions.md", "sh")].join("\n");
      const { stdout } = await promisify(execFile)("bash", ["-ec", script], { cwd: folder });
      expect(stdout).toContain("Hello Ana");
      expect(stdout).toContain("ExecutionSucceeded");
      expect(stdout).toContain("SUCCEEDED Large");
      const { machines } = kit.platform.workflows;
      const scope = { account: "000000000000", region: "us-east-1" };
      const machine = (await machines.find(scope, "Greet"))!;
      const alias = await machines.alias(machine, "live");
      expect(alias!.routes).toEqual([{ stateMachineVersionArn: `${machine.arn}:2`, weight: 100 }]);
    } finally {
      await gateway.close();
      rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
    }
  },
);
