// The contract of the orders API, point by point, against the real process. No worker runs unless a test starts one.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TestProcess } from "tuntas/testing";
import { built, openHouse, place, post, statusOf, type OrdersHouse } from "./processes.fixture.ts";

let house: OrdersHouse;
let api: TestProcess & { readonly url: string };

beforeAll(async () => {
  house = await openHouse();
  api = await house.api();
});
afterAll(() => house[Symbol.asyncDispose]());

const depth = async (): Promise<number> =>
  (await house.query("select count(*)::int as n from tuntas.ready"))[0].n;

async function problemOf(response: Response): Promise<Record<string, unknown>> {
  expect(response.headers.get("content-type")).toContain("application/problem+json");
  return (await response.json()) as Record<string, unknown>;
}

describe("POST /orders", () => {
  test("A-16 A-12: answers 202 with an order id while no worker runs, and the queue holds one message more", async () => {
    const before = await depth();
    const response = await post(api.url, { customerId: "cust_1", unknown: "ignored" });
    expect(response.status).toBe(202);
    const body = (await response.json()) as { orderId: string };
    expect(body).toEqual({ orderId: expect.stringMatching(/^ord_[0-9a-f-]{36}$/), status: "ACCEPTED" });
    expect(await depth()).toBe(before + 1);
    expect(await statusOf(api.url, body.orderId)).toBe("ACCEPTED");
  });

  test.each([
    ["an empty customer", { customerId: "" }],
    ["no customer", {}],
    ["a customer that is a number", { customerId: 7 }],
    ["a customer with NUL", { customerId: "a\0b" }],
    ["a lone surrogate", '{"customerId":"\\ud800"}'],
    ["a list", [1]],
    ["text that is not JSON", "{"],
    ["nothing", ""],
  ])("A-17 A-19: refuses %s with 400 and sends nothing", async (_, body) => {
    const before = await depth();
    const response = await post(api.url, body);
    expect(response.status).toBe(400);
    expect(await problemOf(response)).toMatchObject({ status: 400, code: "TUNTAS_HTTP_INVALID" });
    expect(await depth()).toBe(before);
  });

  test("A-18 A-03: order, customer and correlation id are in the body, the correlation id is an attribute too, and a quote survives", async () => {
    const response = await post(api.url, { customerId: `O"Neil \\ 'x'` }, { "X-Correlation-Id": "t1" });
    expect(response.headers.get("x-correlation-id")).toBe("t1");
    const { orderId } = (await response.json()) as { orderId: string };
    const [message] = await house.query("select body, attributes from tuntas.message where body like $1", [
      `%${orderId}%`,
    ]);
    expect(JSON.parse(message.body)).toEqual({ orderId, customerId: `O"Neil \\ 'x'`, correlationId: "t1" });
    expect(JSON.parse(message.attributes)).toEqual({
      correlationId: { DataType: "String", StringValue: "t1" },
    });
  });

  test("A-04 A-19: the same key and body give the first answer byte for byte and one order; another body gives 422", async () => {
    const key = { "Idempotency-Key": "once-1" };
    const before = await depth();
    const first = await post(api.url, { customerId: "cust_k" }, key);
    const second = await post(api.url, { customerId: "cust_k" }, key);
    expect([first.status, second.status]).toEqual([202, 202]);
    expect(await second.text()).toBe(await first.text());
    expect(second.headers.get("content-type")).toBe(first.headers.get("content-type"));
    const other = await post(api.url, { customerId: "cust_other" }, key);
    expect(other.status).toBe(422);
    expect(await problemOf(other)).toMatchObject({ code: "TUNTAS_HTTP_KEY_REUSED" });
    expect(await depth()).toBe(before + 1);
  });

  test("A-04: many at once with one key make one order; whoever comes while the first is being worked on gets 409 and may come again", async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        post(api.url, { customerId: "cust_burst" }, { "Idempotency-Key": "burst-1" }),
      ),
    );
    expect(new Set(answers.map((answer) => answer.status))).toSatisfy((all: Set<number>) =>
      [...all].every((status) => status === 202 || status === 409),
    );
    for (const answer of answers)
      if (answer.status === 409) expect(answer.headers.get("retry-after")).toBe("1");
    const rows = await house.query("select from orders.orders where customer_id = 'cust_burst'");
    expect(rows).toHaveLength(1);
  });

  test("A-04: without a key each POST is a new order", async () => {
    const [one, two] = [await place(api.url), await place(api.url)];
    expect(one.orderId).not.toBe(two.orderId);
  });

  test("A-20: logs one event for each request, with its correlation id", async () => {
    await post(api.url, { customerId: "cust_log" }, { "X-Correlation-Id": "log-1" });
    const seen = await api.line((line) => line.event === "http.request" && line.correlationId === "log-1");
    expect(seen).toMatchObject({ service: "orders-api", method: "POST", route: "/orders", status: 202 });
    expect(
      api.lines.filter((line) => line.correlationId === "log-1" && line.event === "http.request"),
    ).toHaveLength(1);
  });
});

test("A-09: an unknown order and an unknown address are 404 problems", async () => {
  for (const path of ["/orders/ord_none", "/nowhere", "/orders/%00"]) {
    const response = await fetch(api.url + path);
    expect(response.status).toBe(404);
    expect(await problemOf(response)).toMatchObject({ status: 404, code: "TUNTAS_HTTP_NOT_FOUND" });
  }
});

test("A-04 A-11: a mutating route requires a key by default, and what it did is in the audit", async () => {
  const block = (headers: Record<string, string>) =>
    fetch(`${api.url}/blocked-customers/cust_bad`, {
      method: "PUT",
      headers: { "content-type": "application/json", "X-Correlation-Id": "audit-1", ...headers },
      body: '{"reason":"unpaid"}',
    });
  expect((await block({})).status).toBe(400);
  expect((await block({ "Idempotency-Key": "b1" })).status).toBe(204);
  expect((await block({ "Idempotency-Key": "b1" })).status).toBe(204);
  const rows = await house.query(
    "select action, subject, details from tuntas.audit where action = 'customer.block'",
  );
  expect(rows).toEqual([
    {
      action: "customer.block",
      subject: "/blocked-customers/cust_bad",
      details: '{"correlationId":"audit-1"}',
    },
  ]);
});

test("A-07 A-06: livez and readyz answer, and metrics tell counts, latencies and depths", async () => {
  expect(await (await fetch(`${api.url}/livez`)).json()).toEqual({ status: "live" });
  expect(await (await fetch(`${api.url}/readyz`)).json()).toEqual({ status: "ready" });
  const text = await (await fetch(`${api.url}/metrics`)).text();
  expect(text).toMatch(
    /tuntas_http_request_seconds_count\{method="POST",route="\/orders",status="202"\} \d+/,
  );
  expect(text).toMatch(/tuntas_queue_depth\{queue="order-work",state="ready"\} \d+/);
  expect(text).toMatch(/tuntas_queue_oldest_age_seconds\{queue="order-work"\} [\d.]+/);
});

test("U-01 W-37: a taken port is a coded error that names its variable, and the process exits 1", async () => {
  const second = house.run(built("api.js"), { PORT: new URL(api.url).port });
  expect(await second.ended).toMatchObject({ status: 1 });
  expect(second.errors()).toMatch(/^TUNTAS_HTTP_PORT_TAKEN: .* set PORT to another port/);
});

test("W-37: a value that makes no sense is a coded error that names its variable", async () => {
  const wrong = house.run(built("worker.js"), { APP_MAX_MESSAGES: "many" });
  expect(await wrong.ended).toMatchObject({ status: 1 });
  expect(wrong.errors()).toContain("APP_MAX_MESSAGES: expected a whole number from 1 to 1000");
});

test("Q-22 W-37: the queue has the settings of the baseline, or those of the environment", async () => {
  const settings =
    "select name, visibility_seconds, receives_max, retention_seconds, owner from tuntas.queue order by name";
  expect(await house.query(settings)).toEqual([
    {
      name: "order-work",
      visibility_seconds: 60,
      receives_max: 5,
      retention_seconds: 345_600,
      owner: "orders-team",
    },
    {
      name: "order-work-dlq",
      visibility_seconds: 30,
      receives_max: null,
      retention_seconds: 1_209_600,
      owner: "orders-team",
    },
  ]);
  await using other = await openHouse();
  const env = {
    APP_QUEUE_URL: "http://sqs/000000000000/other-work",
    APP_VISIBILITY_TIMEOUT_SECONDS: "90",
    APP_MAX_RECEIVES: "3",
  };
  const process = other.run(built("api.js"), env);
  await process.line("service.ready");
  const [queue] = await other.query(
    "select name, visibility_seconds, receives_max from tuntas.queue where name = 'other-work'",
  );
  expect(queue).toEqual({ name: "other-work", visibility_seconds: 90, receives_max: 3 });
});
