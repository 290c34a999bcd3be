// What a client may rely on: the same answer for the same key, and an end for whatever was accepted, even after kill -9.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setInterval } from "node:timers/promises";
import { testDatabase, type TestProcess } from "tuntas/testing";

const main = new URL("./order-intake.main.js", import.meta.url);
const addressOf = async (api: TestProcess) =>
  `http://127.0.0.1:${(await api.line("service.ready")).port as number}/orders`;
const post = (url: string, key: string, body: object) =>
  fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": key },
    body: JSON.stringify(body),
  });

test("what is accepted is completed, once, though everything is killed after the answer", async () => {
  await using database = await testDatabase();
  const first = database.run(main);
  const url = await addressOf(first);
  assert.equal((await post(url, "k0", {})).status, 400);
  const accepted = await post(url, "k1", { customerId: "ana" });
  assert.equal(accepted.status, 202);
  const order = (await accepted.json()) as { orderId: string };
  assert.deepEqual(await (await post(url, "k1", { customerId: "ana" })).json(), order); // asked again: the same
  assert.equal((await post(url, "k1", { customerId: "ben" })).status, 422); // the key of another request
  await first.kill(); // before or after its work was done: nobody knows

  const again = await addressOf(database.run(main));
  let status = "ACCEPTED";
  for await (const _ of setInterval(100)) {
    ({ status } = (await (await fetch(`${again}/${order.orderId}`)).json()) as { status: string });
    if (status !== "ACCEPTED") break;
  }
  assert.equal(status, "COMPLETED");
  assert.deepEqual(await database.query("select order_id from order_intake.accepted"), [
    { order_id: order.orderId },
  ]);
});
