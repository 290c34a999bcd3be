// API and worker as two processes, through what goes wrong: death, poison, a slow database, a deployment.
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type pg from "pg";
import type { TestProcess } from "tuntas/testing";
import { openHouse, place, post, statusOf, until, type OrdersHouse } from "./processes.fixture.ts";

let house: OrdersHouse;
let api: TestProcess & { readonly url: string };
let blocker: pg.Client;
const workers: TestProcess[] = [];

beforeAll(async () => {
  house = await openHouse();
  api = await house.api({ APP_MAX_RECEIVES: "2" });
  blocker = await house.connect();
});
afterEach(async () => {
  for (const { child } of workers) child.kill("SIGKILL");
  await Promise.all(workers.splice(0).map((worker) => worker.ended));
  await house.query("delete from tuntas.ready; delete from tuntas.delayed");
});
afterAll(async () => {
  await blocker.end();
  await house[Symbol.asyncDispose]();
});

async function work(env = {}): Promise<TestProcess> {
  const worker = await house.worker({ APP_MAX_RECEIVES: "2", ...env });
  workers.push(worker);
  return worker;
}

const isStatus = (orderId: string, status: string) =>
  until(async () => (await statusOf(api.url, orderId)) === status);

/** A downstream that does not answer: the order's row is locked by somebody else. */
async function block(orderId: string): Promise<void> {
  await blocker.query("begin");
  await blocker.query("select from orders.orders where order_id = $1 for update", [orderId]);
}
const unblock = () => blocker.query("commit");

test("A-03 W-12: the worker completes an order, and its log carries the correlation id that the caller gave", async () => {
  const worker = await work();
  const { orderId } = (await (
    await post(api.url, { customerId: "cust_1" }, { "X-Correlation-Id": "trace-1" })
  ).json()) as { orderId: string };
  await isStatus(orderId, "COMPLETED");
  const line = await worker.line((each) => each.orderId === orderId);
  expect(line).toMatchObject({
    service: "orders-worker",
    event: "order.processing",
    correlationId: "trace-1",
    queue: "order-work",
  });
});

test("W-38: an order of a blocked customer is rejected, which is no failure", async () => {
  await house.query("insert into orders.blocked_customer values ('cust_blocked', 'unpaid')");
  await work();
  const { orderId } = await place(api.url, "cust_blocked");
  await isStatus(orderId, "REJECTED");
});

test("W-38: an order is PROCESSING while a worker has it; the worker dies by kill -9 and the next one completes it once", async () => {
  const { orderId } = await place(api.url);
  await block(orderId);
  const first = await work();
  await isStatus(orderId, "PROCESSING");
  first.child.kill("SIGKILL");
  await first.ended;
  await work();
  await unblock();
  await isStatus(orderId, "COMPLETED");
  const commands = await house.query("select from tuntas.command where key = $1", [orderId]);
  expect(commands).toHaveLength(1);
});

test("drill 3, W-38: a poison message is retried, then dead; the worker lives, and the alarm's metric shows it", async () => {
  await work();
  await house.query(`select tuntas.send('order-work', 'this is not an order')`);
  const dead = `select count(*)::int as n from tuntas.ready r join tuntas.queue q on q.id = r.queue_id where q.name = 'order-work-dlq'`;
  await until(async () => (await house.query(dead))[0].n === 1);
  const { orderId } = await place(api.url);
  await isStatus(orderId, "COMPLETED");
  await until(async () =>
    (await (await fetch(`${api.url}/metrics`)).text()).includes(
      'tuntas_queue_depth{queue="order-work-dlq",state="ready"} 1',
    ),
  );
});

test("W-38: an order whose processing always fails is FAILED, and COMPLETED after the cause is mended and it is replayed", async () => {
  await house.query(`create function orders.refuse() returns trigger language plpgsql as $$ begin raise exception 'downstream refuses'; end $$;
    create trigger refuse before update on orders.orders for each row when (new.customer_id = 'cust_broken') execute function orders.refuse()`);
  await work();
  const { orderId } = await place(api.url, "cust_broken");
  await isStatus(orderId, "FAILED");
  await house.query("drop trigger refuse on orders.orders");
  await house.query(
    "select tuntas.move_messages(id, null, 10, null) from tuntas.queue where name = 'order-work-dlq'",
  );
  await isStatus(orderId, "COMPLETED");
});

test("drill 4, W-38: work that takes longer than the visibility timeout is not done twice, nor is a duplicate of its message", async () => {
  await work({ APP_VISIBILITY_TIMEOUT_SECONDS: "1" });
  const { orderId } = await place(api.url);
  await block(orderId);
  const held =
    "select receives from tuntas.in_flight where group_id = $1 and claimed_at < tuntas.now() - interval '1500 ms'";
  await until(async () => (await house.query(held, [orderId])).length === 1).finally(unblock);
  await isStatus(orderId, "COMPLETED");
  const end = async () =>
    (await house.query("select ended_at from orders.orders where order_id = $1", [orderId]))[0]
      .ended_at as Date;
  const endedAt = await end();
  const body = JSON.stringify({ orderId, customerId: "cust_1", correlationId: "again" });
  await house.query(`select tuntas.send('order-work', $1)`, [body]);
  await until(
    async () => (await house.query("select from tuntas.message where body = $1", [body])).length === 0,
  );
  expect(await end()).toEqual(endedAt);
});

test("W-32 U-02: SIGTERM in the middle of work: nothing more is claimed, what runs is finished, the events come in order, exit 0", async () => {
  const { orderId } = await place(api.url);
  await block(orderId);
  const worker = await work();
  // What a worker has, and has not begun, it gives back.
  await until(async () => (await house.query("select from pg_locks where not granted")).length > 0);
  expect(await statusOf(api.url, orderId)).toBe("PROCESSING");
  worker.child.kill("SIGTERM");
  await worker.line((line) => line.event === "service.stopped_taking");
  const later = await place(api.url);
  await unblock();
  expect(await worker.ended).toEqual({ status: 0, signal: null });
  expect(await statusOf(api.url, orderId)).toBe("COMPLETED");
  expect(await statusOf(api.url, later.orderId)).toBe("ACCEPTED");
  const events = worker.lines.map((line) => line.event).filter((event) => event?.startsWith("service."));
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
