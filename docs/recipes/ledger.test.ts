// The code of the ledger's recipes runs as it stands: against the built package, in a database of its own.
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openPlatform, start } from "tuntas";
import { approveRepair, provider, repair, standing } from "tuntas/ledger";
import type { StartCommand } from "tuntas/outbox";
import { openKitchen, type Kitchen } from "./kitchen.fixture.ts";

const server = process.env.DATABASE_URL!;
let kitchen: Kitchen;
let client: Kitchen["client"];

beforeAll(async () => {
  kitchen = await openKitchen("recipes");
  ({ client } = kitchen);
  process.env.DATABASE_URL = kitchen.url;
  await (await openPlatform({ databaseUrl: kitchen.url })).close();
  await client.query(`create table orders (id bigint generated always as identity, customer_id text, amount bigint, paid boolean default false);
    create table refusals (amount bigint); create table cases (id text, status text)`);
});

afterAll(async () => {
  process.env.DATABASE_URL = server;
  await kitchen.close();
});

const recipe = (page: string): Promise<Record<string, any>> => kitchen.recipe(page);

const count = async (where: string) =>
  (await client.query(`select count(*)::int as n from ${where}`)).rows[0].n as number;

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await holds()); tries++) {
    if (tries > 800) throw new Error("it did not come to hold in time");
    await sleep(25);
  }
}

test("G-05 G-14 docs/recipes/once.md", async () => {
  const { placeOrder, decideCredit, onPaymentEvent, withDrizzle, withKysely, withKnex, close } =
    await recipe("once");
  const order = { customerId: "c1", amount: 5 };
  const first = await placeOrder("k1", order);
  expect(first).toMatchObject({ status: "created", result: { orderId: expect.any(String) } });
  expect(await placeOrder("k1", order)).toEqual({ ...first, status: "duplicate" });
  expect(await placeOrder("k1", { ...order, amount: 6 })).toMatchObject({ status: "conflict" });
  expect(await decideCredit("k1", 5000)).toMatchObject({
    outcome: "rejected",
    result: { code: "CREDIT_LIMIT" },
  });
  expect(await onPaymentEvent({ id: "e1", orderId: first.result.orderId })).toMatchObject({
    status: "created",
  });
  expect(await onPaymentEvent({ id: "e1", orderId: first.result.orderId })).toMatchObject({
    status: "duplicate",
  });
  for (const [builder, place] of Object.entries({
    drizzle: withDrizzle,
    kysely: withKysely,
    knex: withKnex,
  })) {
    expect(await place("k1"), builder).toMatchObject({ status: "created" });
    expect(await place("k1"), builder).toMatchObject({ status: "duplicate" });
    expect(await count(`orders where customer_id = '${builder}'`)).toBe(1);
  }
  await close();
});

test("G-12 P-23 docs/recipes/outbox.md", async () => {
  const { placeOrder, startPublishing, lookAfterOutbox, approveCase, close } = await recipe("outbox");
  const posted: unknown[] = [];
  const http = createServer((request, response) => {
    const { authorization, "idempotency-key": id, "tuntas-type": type } = request.headers;
    posted.push(id, type, authorization);
    request.resume().on("end", () => response.writeHead(204).end());
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const indexed: unknown[] = [];
  process.env.CRM_URL = `http://127.0.0.1:${(http.address() as { port: number }).port}/`;
  process.env.CRM_TOKEN = "secret";
  const running = await startPublishing(async (order: unknown) => void indexed.push(order));
  await running.platform.queues.catalog.create(
    { account: "000000000000", region: "us-east-1" },
    "order-work",
    {},
  );
  const orderId = await placeOrder("c9");
  await until(async () => (await count("tuntas.outbox")) === 0);
  expect(indexed).toEqual([{ orderId, customerId: "c9" }]);
  expect(posted).toEqual([expect.any(String), "OrderPlaced", "Bearer secret"]);
  expect(await count("tuntas.message")).toBe(1);
  // The relay's own next look may be an open transaction at this moment.
  await expect
    .poll(() => lookAfterOutbox(client))
    .toEqual({ targets: [], openWriterAgeMs: null, parked: [], back: 0 });
  const command: StartCommand = {
    workflowName: "CaseActivation",
    workflowVersion: "1",
    tenantId: "t1",
    caseId: "c1",
    commandId: "cmd1",
    requestedBy: "ana",
    correlationId: "x",
    startedAt: "2026-07-05T00:00:00Z",
  };
  expect(await approveCase(client, command)).toBe("CaseActivation-t1-c1-cmd1");
  await running.stop();
  http.closeAllConnections();
  http.close();
  await close();
});

test("G-16 G-17 docs/recipes/side-effects.md", async () => {
  const { chargeOrder, declareBank, mayRedrive } = await recipe("side-effects");
  const platform = await openPlatform({ databaseUrl: process.env.DATABASE_URL });
  const charged = new Map<string, { id: string }>();
  let silent = false;
  const bank = {
    async charge({ amount }: { amount: number }, key: string) {
      if (amount > 100) return { declined: "too much" };
      charged.set(key, { id: `ch_${key}` });
      return silent ? new Promise(() => undefined) : charged.get(key)!;
    },
    find: async (key: string) => charged.get(key),
  };
  const declared = declareBank(bank);
  const charge = (id: string, amount: number) => chargeOrder(platform, declared, bank.charge, { id, amount });
  expect(await charge("o1", 5)).toMatchObject({ status: "created", reference: "ch_o1" });
  expect(await charge("o1", 5)).toMatchObject({ status: "duplicate", reference: "ch_o1" });
  await expect(charge("o2", 500)).rejects.toMatchObject({ code: "TUNTAS_EFFECT_REFUSED" });
  silent = true;
  await expect(charge("o3", 5)).rejects.toMatchObject({ code: "TUNTAS_EFFECT_UNKNOWN" });
  await expect(mayRedrive(client, "o3")).rejects.toMatchObject({ code: "TUNTAS_REDRIVE_REFUSED" });
  expect(await charge("o3", 5)).toMatchObject({ status: "duplicate", reference: "ch_o3" });
  await mayRedrive(client, "o3");
  await platform.close();
});

test("G-22 G-27 docs/recipes/reservations.md", async () => {
  const { reserveNumber, holdForApproval, makeFinal, giveBack, detectDuplicates } =
    await recipe("reservations");
  await client.query("insert into cases values ('c1', 'DRAFT')");
  const id = await reserveNumber(client, "c1", "N-1");
  expect(await reserveNumber(client, "c2", "N-1")).toBeUndefined();
  expect(await holdForApproval(client, id)).toMatchObject({ status: "created" });
  expect(await makeFinal(client, id)).toMatchObject({ reservation: { state: "confirmed" } });
  await expect(giveBack(client, id)).rejects.toMatchObject({ code: "TUNTAS_RESERVATION_STATE" });
  expect(await detectDuplicates("c1", async () => ["c0"])).toEqual({ status: "completed", result: ["c0"] });
  expect(await detectDuplicates("c1", async () => [])).toEqual({ status: "completed", result: ["c0"] });
});

test("P-37 docs/recipes/compensation.md", async () => {
  const { reserveNumber, noteCharge, undoCase, caseIsActive } = await recipe("compensation");
  const platform = await openPlatform({ databaseUrl: process.env.DATABASE_URL });
  const bank = provider({ name: "refunding bank", timeout: "2s", reconcile: { refund: "manual" } });
  const refunds: string[] = [];
  const refunding = { refund: async (chargeId: string) => (refunds.push(chargeId), { id: "re_1" }) };
  await client.query("begin");
  const reservation = await reserveNumber(client, "c8", "N-8");
  await noteCharge(client, "c8", { provider: bank, bank: refunding, chargeId: "ch_8" });
  await client.query("commit");
  expect(await undoCase(platform, bank, refunding, "c8")).toEqual({ status: "completed", done: 2 });
  expect(await undoCase(platform, bank, refunding, "c8")).toEqual({ status: "completed", done: 0 });
  expect(refunds).toEqual(["ch_8"]);
  expect(await count(`tuntas.reservation where id = '${reservation}' and state = 'released'`)).toBe(1);
  await reserveNumber(client, "c9", "N-9");
  expect(await caseIsActive(client, "c9")).toBe(1);
  expect(await undoCase(platform, bank, refunding, "c9")).toEqual({ status: "completed", done: 0 });
  await platform.close();
});

test("R-01 R-15 docs/recipes/reconciliation.md", async () => {
  const { default: application, casesStarted, look } = await recipe("reconciliation");
  await client.query("create table runs (case_id text); insert into cases values ('c77', 'APPROVED')");
  const running = await start(application, { databaseUrl: process.env.DATABASE_URL });
  await until(async () => (await count("tuntas.discrepancy where key = 'c77'")) === 1);
  expect(await look(running.platform)).toMatchObject({ name: "cases-started", found: 1, added: [] });
  const [row] = await standing(running.platform.database, "cases-started");
  await approveRepair(running.platform.database, row!.id, { by: "ana", reason: "it was never started" });
  expect(await repair(running.platform.database, casesStarted, row!.id)).toBe("repaired");
  expect(await count("runs where case_id = 'c77'")).toBe(1);
  await running.stop();
});
