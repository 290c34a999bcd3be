// The whole process on a virtual clock without a database; then by real processes, with kill -9 in the middle of the payment.
import assert from "node:assert/strict";
import { test } from "node:test";
import { start } from "tuntas";
import { testDatabase, testPlatform, testWorkflow } from "tuntas/testing";
import work, { refundRequest } from "./refund-request.ts";

const main = new URL("./refund-request.main.js", import.meta.url);
const dayMs = 86_400_000;

test("a refund cools off for a day, is paid and told; a database that is away for a moment does no harm", async () => {
  const { status, path } = await testWorkflow(refundRequest, {
    input: { refundId: "r1", amount: 40 },
    mocks: {
      Check: (input: object) => input,
      Pay: [{ fails: { error: "TransientDatabaseError" } }, { returns: { refundId: "r1" } }],
      Tell: () => null,
    },
  });
  assert.equal(status, "SUCCEEDED");
  assert.deepEqual(
    path.map(({ state }) => state),
    ["Check", "Cool off", "Pay", "Tell"],
  );
  assert.equal(path[2]!.afterMs, dayMs);
});

test("a refund whose worker is killed while it pays is paid once", async () => {
  await using database = await testDatabase();
  await using clock = await testPlatform({ databaseUrl: database.url, schema: "tuntas", keep: true });
  await using _asking = await start(work, { platform: clock.platform, workers: false });
  const first = database.run(main);
  await first.line("service.ready");
  const holder = await database.connect();
  await holder.query("begin; lock table refund_request.paid in share mode"); // so that the payment waits
  const refund = { refundId: "r1", amount: 40 };
  assert.equal((await refundRequest.start(refund, { name: "r1" })).status, "created");
  assert.equal((await refundRequest.start(refund, { name: "r1" })).status, "duplicate");
  await clock.advance(dayMs);
  await first.line("refund.begun");
  await first.kill();
  await holder.end();

  const second = database.run(main);
  await second.line("refund.told"); // the next step begins after the commit of the one before
  assert.deepEqual(await database.query("select refund_id, amount from refund_request.paid"), [
    { refund_id: "r1", amount: 40 },
  ]);
});
