// The API and the worker as services on a shared PostgreSQL, replaced under load.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { watchProcess, type TestProcess } from "tuntas/testing";
import { openHouse, post, until, type OrdersHouse } from "./processes.fixture.ts";

const bin = fileURLToPath(new URL("../../../lib/bin/tuntas.mjs", import.meta.url));
const services = fileURLToPath(new URL("../dist/services.js", import.meta.url));

let house: OrdersHouse;
let dataDir: string;
const children: ChildProcess[] = [];
let controller: TestProcess;

function begin(...words: string[]): ChildProcess {
  const { npm_command: _, npm_lifecycle_event: __, ...own } = process.env;
  const env = { ...own, DATABASE_URL: house.url, TUNTAS_DATA_DIR: dataDir, TUNTAS_LOG_LEVEL: "info" };
  const child = spawn(process.execPath, [bin, ...words], { env, stdio: ["ignore", "pipe", "pipe"] });
  children.push(child);
  return child;
}

async function tuntas(...words: string[]): Promise<any> {
  const child = begin(...words, "--json");
  const printed: Buffer[] = [];
  child.stdout!.on("data", (chunk: Buffer) => printed.push(chunk));
  await once(child, "close");
  return JSON.parse(Buffer.concat(printed).toString());
}

beforeAll(async () => {
  house = await openHouse();
  dataDir = mkdtempSync(join(tmpdir(), "tuntas-orders-services-"));
  controller = watchProcess(begin("service", "run"));
}, 240_000);

afterAll(async () => {
  controller.child.kill("SIGTERM");
  await controller.ended;
  for (const child of children) child.kill("SIGKILL");
  await house[Symbol.asyncDispose]();
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 20 });
}, 240_000);

test("U-07 U-09 D-28: both are replaced batch by batch under load; no order is refused, lost or done twice", async () => {
  const deploy = (name: string, ...more: string[]) =>
    tuntas("service", "deploy", name, "--app", services, ...more);
  const first = [await deploy("orders-api"), await deploy("orders-worker")];
  expect(first.map(({ deployment }) => deployment.state)).toEqual(["completed", "completed"]);

  const front = watchProcess(begin("service", "front", "orders-api", "--port", "0", "--json"));
  const url = String((await front.line((line) => /"url"/.test(String(line.text)))).text).match(
    /http[^"]+/,
  )![0];
  const answers: number[] = [];
  let asking = true;
  const customer = async () => {
    while (asking) answers.push((await post(url, { customerId: "cust_1" })).status);
  };
  const customers = Promise.all(Array.from({ length: 4 }, customer));
  await until(async () => answers.length > 20);

  const second = [await deploy("orders-api", "--force"), await deploy("orders-worker", "--force")];
  expect(second.map(({ deployment }) => deployment.state)).toEqual(["completed", "completed"]);
  const served = answers.length;
  await until(async () => answers.length > served + 20);
  asking = false;
  await customers;

  expect([...new Set(answers)]).toEqual([202]);
  const counts = async () =>
    (
      await house.query(
        "select count(*)::int as all, count(*) filter (where status = 'COMPLETED')::int as done from orders.orders",
      )
    )[0];
  await until(async () => (await counts()).done >= answers.length);
  expect(await counts()).toEqual({ all: answers.length, done: answers.length });

  const events = second[0].log.map(({ event }: { event: string }) => event);
  expect(events.indexOf("health")).toBeGreaterThan(events.indexOf("batch"));
  const { deployments, instances } = second[0].service;
  const living = instances.filter(({ state }: { state: string }) => state === "running");
  expect(living.map(({ deploymentId }: { deploymentId: string }) => deploymentId)).toEqual([
    deployments[0].id,
    deployments[0].id,
  ]);
}, 240_000);
