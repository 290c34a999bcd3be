// A worker service of real processes under a burst, behind a bank that bears so much and no more: it follows the backlog,
// stops at what the bank bears, gives nobody up who holds a message, and adds nobody while the bank is away.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { z } from "zod";
import { app, start } from "../app.ts";
import { queue } from "../queue/declaration.ts";
import type { QueueFigures } from "./index.ts";
import { ada, fixture, newName, openStage, web } from "./stage.fixture.ts";

const stage = openStage();
const patient = { timeout: 120_000, interval: 100 };

/** Takes a moment for each payment; those whose name begins with "slow" until they are let go. */
function openBank() {
  const slow = new Map<string, ServerResponse>();
  const paid: string[] = [];
  let [open, peak] = [0, 0];
  const answer = (id: string, response: ServerResponse) => {
    open--;
    paid.push(id);
    response.setHeader("connection", "close");
    response.end("{}");
  };
  const server: Server = createServer((request, response) => {
    const id = request.url!.slice(1);
    peak = Math.max(peak, ++open);
    if (id.startsWith("slow")) slow.set(String(request.headers.pid), response);
    else setTimeout(() => answer(id, response), 50);
  });
  const listen = async (port: number) => {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  };
  return {
    listen,
    paid,
    peak: () => peak,
    /** The processes that wait for it. */
    waiting: () => [...slow.keys()].map(Number),
    release: () => slow.forEach((response, pid) => answer(`slow of ${pid}`, response)),
    close: () => new Promise((resolve) => void server.close(resolve)),
  };
}

test("X-01 X-02 X-03 X-04 X-07 X-13 X-14 X-16: out with a burst as far as the bank bears, in without harm, and not out while it is away", async () => {
  const bank = openBank();
  const port = await bank.listen(0);
  const host = stage.control();
  const name = newName();
  const { services } = stage.kit.platform;
  const work = queue(`payments-${randomUUID().slice(0, 8)}`, {
    message: z.object({ id: z.string() }),
    deadLetter: { after: 100, owner: "tests", runbook: "none", retention: "1d" },
  });
  await using _ = await start(app({ work }), { platform: stage.kit.platform, workers: false });
  const { databaseUrl, schema } = stage.kit;
  const environment = {
    DATABASE_URL: databaseUrl,
    SCHEMA: schema,
    QUEUE: work.name,
    BANK: `http://127.0.0.1:${port}`,
  };
  await services.deploy(
    web(name, {
      kind: "consumer-group",
      run: { module: fixture("worker.fixture.mjs") },
      environment,
      healthCheck: { presence: true, interval: "1s", timeout: "60s", retries: 3, startPeriod: "300s" },
      scaling: {
        min: 1,
        max: 8,
        target: {
          queue: work,
          backlogPerInstance: 10,
          oldestAge: "5m",
          downstream: { name: `bank-${work.name}`, safePerSecond: 60, perInstance: 20, slowAbove: "30s" },
        },
        scaleOutCooldown: "0s",
        scaleInCooldown: "0s",
      },
    }),
    { ...ada, host },
  );
  const decision = async () => (await services.describe(name)).decision;
  const figures = async () => (await decision())!.figures as QueueFigures;
  const reasons = async () =>
    (await stage.logOf(name))
      .filter(({ event }) => event === "scaled" || event === "held")
      .map(({ detail }) => detail);
  const burst = (kind: string, count: number) =>
    Promise.all(Array.from({ length: count }, (_, n) => work.send({ id: `${kind}-${n}` })));

  const pids = async () => (await stage.running(name)).map(({ pid }) => pid);

  await burst("first", 300);
  await burst("slow", 1);
  await expect.poll(async () => (await services.describe(name)).desired, patient).toBe(3);
  await expect.poll(reasons, patient).toContainEqual(expect.objectContaining({ reason: "downstream_cap" }));
  await expect.poll(() => bank.paid.length, patient).toBe(300);
  await expect
    .poll(async () => [(await services.describe(name)).desired, (await pids()).length], patient)
    .toEqual([1, 1]);
  await expect.poll(figures, patient).toMatchObject({
    backlog: 0,
    oldestAgeSeconds: 0,
    retryShare: 0,
    deadLetterGrowth: 0,
    processedPerMinute: expect.toSatisfy((count: number) => count > 0),
    producedPerMinute: expect.toSatisfy((count: number) => count > 0),
    processingMs: expect.toSatisfy((ms: number) => ms >= 50),
    downstreamMs: expect.toSatisfy((ms: number) => ms >= 50),
  });
  expect(bank.peak()).toBeLessThanOrEqual(3);
  expect(new Set(bank.paid).size).toBe(300);

  expect(await pids()).toEqual(bank.waiting());
  bank.release();
  await expect.poll(async () => (await figures()).inFlight, patient).toBe(0);
  expect(await pids()).toEqual(bank.waiting());

  await bank.close();
  await burst("away", 5);
  await expect.poll(async () => (await figures()).downstreamOpen, patient).toBe(true);
  const since = (await stage.logOf(name)).at(-1)!.id;
  await burst("second", 1500);
  await expect
    .poll(() => services.log(name, { after: since, event: "held" }), patient)
    .toContainEqual(
      expect.objectContaining({ detail: expect.objectContaining({ reason: "downstream_open", to: 1 }) }),
    );
  await expect.poll(async () => (await figures()).retryShare, patient).toBeGreaterThan(0.2);
  expect(await services.log(name, { after: since, event: "scaled" })).toEqual([]);

  await bank.listen(port);
  await expect.poll(() => bank.paid.length, patient).toBeGreaterThan(301);
  await services.stop(name, ada);
  await expect.poll(async () => (await pids()).length, patient).toBe(0);
  expect(bank.peak()).toBeLessThanOrEqual(3);
  expect(new Set(bank.paid).size).toBe(bank.paid.length);
  await bank.close();
}, 600_000);
