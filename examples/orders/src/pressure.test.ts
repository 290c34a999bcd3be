// The API under pressure: a database that hangs, more requests than it can take, and its own end.
import { afterAll, beforeAll, expect, test } from "vitest";
import type pg from "pg";
import { freezable, openHouse, post, until, type OrdersHouse } from "./processes.fixture.ts";

let house: OrdersHouse;
let blocker: pg.Client;

beforeAll(async () => {
  house = await openHouse();
  await (await house.api()).child.kill("SIGTERM"); // has made the tables
  blocker = await house.connect();
});
afterAll(async () => {
  await blocker.end();
  await house[Symbol.asyncDispose]();
});

const block = () => blocker.query("begin; lock table orders.orders in exclusive mode");
const unblock = () => blocker.query("commit");

const metric = async (url: string, name: string): Promise<number> =>
  Number(new RegExp(`^${name} (\\S+)$`, "m").exec(await (await fetch(`${url}/metrics`)).text())?.[1]);
const inFlight = (url: string, count: number) =>
  until(async () => (await metric(url, "tuntas_http_in_flight")) === count);

const burst = (url: string, count: number) =>
  Array.from({ length: count }, (_, n) => post(url, { customerId: `cust_${n}` }));

test("A-08 U-02 U-03: SIGTERM with 50 requests in flight: every one is answered, livez says live and readyz no, the events come in order, exit 0", async () => {
  const api = await house.api();
  await block();
  const answers = burst(api.url, 50);
  await inFlight(api.url, 50);
  api.child.kill("SIGTERM");
  await api.line((line) => line.event === "service.stopped_taking");
  expect((await fetch(`${api.url}/livez`)).status).toBe(200);
  expect((await fetch(`${api.url}/readyz`)).status).toBe(503);
  expect((await post(api.url, { customerId: "too_late" })).status).toBe(503);
  await unblock();
  expect((await Promise.all(answers)).map((answer) => answer.status)).toEqual(
    Array.from({ length: 50 }, () => 202),
  );
  expect(await api.ended).toEqual({ status: 0, signal: null });
  const events = api.lines.map((line) => line.event).filter((event) => event?.startsWith("service."));
  expect(events).toEqual([
    "service.ready",
    "service.stopping",
    "service.stopped_taking",
    "service.drained",
    "service.acknowledged",
    "service.closed",
    "service.exit",
  ]);
});

test("U-02: a second signal ends the process at once", async () => {
  const api = await house.api();
  await block();
  const answers = Promise.allSettled(burst(api.url, 1));
  await inFlight(api.url, 1);
  api.child.kill("SIGINT");
  await api.line((line) => line.event === "service.stopped_taking");
  api.child.kill("SIGINT");
  expect(await api.ended).toEqual({ status: 130, signal: null });
  await unblock();
  await answers;
});

test("A-06 A-07: with a database that hangs readyz says no inside its timeout, again and again, livez stays 200, and both recover", async () => {
  const database = await freezable(house.url);
  const api = await house.api({ DATABASE_URL: database.url });
  expect((await fetch(`${api.url}/readyz`)).status).toBe(200);
  database.freeze();
  const startedAt = performance.now();
  const probes = await Promise.all(Array.from({ length: 20 }, () => fetch(`${api.url}/readyz`)));
  expect(probes.map((probe) => probe.status)).toEqual(Array.from({ length: 20 }, () => 503));
  expect((await fetch(`${api.url}/livez`)).status).toBe(200);
  expect((await fetch(`${api.url}/metrics`)).status).toBe(200);
  expect(performance.now() - startedAt).toBeLessThan(8000); // 1s each for readyz and metrics, on a busy machine
  database.thaw();
  await until(async () => (await fetch(`${api.url}/readyz`)).status === 200);
  api.child.kill("SIGKILL");
  await api.ended;
  database.close();
});

test("A-10 A-05: more than it takes at once is refused with 503 and Retry-After, and the database sees no more than the pool's connections", async () => {
  const api = await house.api({ APP_IN_FLIGHT_MAX: "40" });
  await block();
  const answers = burst(api.url, 100);
  await inFlight(api.url, 40);
  const [{ n }] = await house.query(
    "select count(*)::int as n from pg_stat_activity where datname = current_database() and application_name = 'tuntas'",
  );
  expect(n).toBeLessThanOrEqual(16 + 6 + 4);
  await until(async () => (await metric(api.url, 'tuntas_http_shed_total{reason="in_flight"}')) === 60);
  await unblock();
  const settled = await Promise.all(answers);
  const refused = settled.filter((answer) => answer.status === 503);
  expect(refused).toHaveLength(60);
  expect(settled.filter((answer) => answer.status === 202)).toHaveLength(40);
  expect(refused[0]!.headers.get("retry-after")).toBe("1");
  expect(await refused[0]!.json()).toMatchObject({ code: "TUNTAS_HTTP_OVERLOADED" });
  api.child.kill("SIGTERM");
  expect((await api.ended).status).toBe(0);
});

test("A-01 A-02: a request over its budget is answered, has changed nothing, and succeeds later under the same key", async () => {
  const api = await house.api({ APP_REQUEST_BUDGET_MS: "2000" });
  await block();
  const key = { "Idempotency-Key": "slow-1" };
  const slow = await post(api.url, { customerId: "cust_slow" }, key);
  expect(slow.status).toBe(503);
  expect(await slow.json()).toMatchObject({
    code: "TUNTAS_HTTP_BUDGET",
  });
  await unblock();
  const rows = () => house.query("select from orders.orders where customer_id = 'cust_slow'");
  expect(await rows()).toHaveLength(0);
  await until(async () => (await post(api.url, { customerId: "cust_slow" }, key)).status === 202);
  expect(await rows()).toHaveLength(1);
  api.child.kill("SIGTERM");
  await api.ended;
});

test("A-19 U-05: after the database dropped every session the API goes on without a restart", async () => {
  const api = await house.api();
  await house.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'tuntas'",
  );
  await until(async () => (await post(api.url, { customerId: "cust_after" })).status === 202);
  api.child.kill("SIGTERM");
  expect((await api.ended).status).toBe(0);
});
