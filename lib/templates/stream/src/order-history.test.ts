// kill -9 in the middle of a record: it is read again, in its order, and counted once.
import assert from "node:assert/strict";
import { test } from "node:test";
import { start } from "tuntas";
import { testDatabase } from "tuntas/testing";
import work, { orderHistory } from "./order-history.ts";

const main = new URL("./order-history.main.js", import.meta.url);

test("a consumer that is killed while it reads leaves each record read once, in its order", async () => {
  await using database = await testDatabase();
  await using _producer = await start(work, { databaseUrl: database.url, workers: false });
  const first = database.run(main);
  await first.line("service.ready");
  const holder = await database.connect();
  await holder.query("begin; lock table order_history.status in share mode"); // so that the handler waits
  for (const event of ["placed", "paid", "shipped"] as const)
    await orderHistory.append({ orderId: "o1", event }, { key: "o1" });
  await first.line("record.begun");
  await first.kill();
  await holder.end();

  const second = database.run(main);
  await second.line(({ event, what }) => event === "record.begun" && what === "shipped");
  second.child.kill("SIGTERM"); // it finishes what it has begun
  await second.ended;
  assert.deepEqual(await database.query("select order_id, status, events from order_history.status"), [
    { order_id: "o1", status: "shipped", events: 3 },
  ]);
});
