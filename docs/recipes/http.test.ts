// The code of the HTTP recipes runs as it stands: against the built package, in a database of its own.
import { afterAll, beforeAll, expect, test } from "vitest";
import { openKitchen, type Kitchen } from "./kitchen.fixture.ts";

let kitchen: Kitchen;
beforeAll(async () => void (kitchen = await openKitchen("http")));
afterAll(() => kitchen.close());

test("A-11 docs/recipes/http-service.md", async () => {
  const { start, orders, serve } = await kitchen.recipe("http-service");
  await kitchen.client.query(
    "create table orders (id text primary key, paid boolean); insert into orders values ('o1', true)",
  );
  await using running = await start(orders, { databaseUrl: kitchen.url, workers: false });
  const server = await serve(running);
  const headers = { "idempotency-key": "k1", "x-correlation-id": "c1" };
  const response = await server.inject({ method: "POST", url: "/orders/o1/cancel", headers });
  expect([response.statusCode, response.json()]).toEqual([202, { status: "CANCELLING" }]);
  expect((await kitchen.client.query("select paid from orders")).rows).toEqual([{ paid: false }]);
  const acts = await kitchen.client.query(
    "select details::json->>'correlationId' as id from tuntas.audit where action = 'order.cancel'",
  );
  expect(acts.rows).toEqual([{ id: "c1" }]);
  await server.close();
});

test("A-13 A-14 docs/recipes/long-job.md: an id at once, then PENDING, RUNNING, READY with the place of the result", async () => {
  const { start, reports, serve, schema } = await kitchen.recipe("long-job");
  await kitchen.client.query(schema);
  const files = new Map<string, string>();
  let finish!: () => void;
  const finished = new Promise<void>((resolve) => (finish = resolve));
  const store = async (name: string, text: string) => {
    await finished;
    files.set(name, text);
    return `s3://reports-bucket/${name}`;
  };
  const application = reports(store);
  const api = await start(application, { databaseUrl: kitchen.url, workers: false });
  const server = await serve(api);
  const post = () =>
    server.inject({
      method: "POST",
      url: "/reports",
      headers: { "idempotency-key": "november" },
      payload: { month: "2026-11" },
    });
  const accepted = await post();
  expect(accepted.statusCode).toBe(202);
  const { reportId, status } = accepted.json();
  expect(status).toBe("PENDING");
  expect((await post()).json()).toEqual({ reportId, status });
  const look = async () => (await server.inject({ url: `/reports/${reportId}` })).json();
  expect(await look()).toEqual({ reportId, status: "PENDING", location: null });

  const working = await start(application, { databaseUrl: kitchen.url });
  await expect.poll(look).toMatchObject({ status: "RUNNING" });
  finish();
  await expect
    .poll(look)
    .toEqual({ reportId, status: "READY", location: `s3://reports-bucket/reports/${reportId}.csv` });
  expect([...files]).toEqual([[`reports/${reportId}.csv`, "month,total\n2026-11,42\n"]]);
  const refused = await server.inject({
    method: "POST",
    url: "/reports",
    headers: { "idempotency-key": "never" },
    payload: { month: "soon" },
  });
  expect(refused.statusCode).toBe(400);
  expect((await server.inject({ url: "/reports/unknown" })).statusCode).toBe(404);
  await server.close();
  for (const running of [working, api]) await running.stop();
});
