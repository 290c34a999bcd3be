// Who may sign, and that a decision outlives the process that asked.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setInterval } from "node:timers/promises";
import { start } from "tuntas";
import { testDatabase } from "tuntas/testing";
import work, { largePayment } from "./large-payment.ts";

const main = new URL("./large-payment.main.js", import.meta.url);
const treasurer = (name: string) => ({ name, roles: ["treasurer"] });

test("two people sign, the one who asked may not, and the decision is there once though the asker was killed", async () => {
  await using database = await testDatabase();
  await using office = await start(work, { databaseUrl: database.url });
  const { approvals } = office.platform.workflows;
  const first = database.run(main);
  await first.line("service.ready");
  await largePayment.start({ paymentId: "p1", amount: 90_000, requestedBy: "ana" }, { name: "p1" });
  let id = "";
  for await (const _ of setInterval(100)) {
    id = (await approvals.list({ for: treasurer("ben") }))[0]?.id ?? "";
    if (id !== "") break;
  }
  await first.kill(); // nobody waits in a process

  const sign = (name: string) =>
    approvals.decide(id, { by: treasurer(name), decision: "approve", reason: "invoice and order agree" });
  await assert.rejects(sign("ana"), { code: "TUNTAS_APPROVAL_OWN" });
  assert.equal((await sign("ben")).status, "signed");
  assert.equal((await sign("ben")).status, "duplicate"); // two eyes are not four
  assert.deepEqual(await database.query("select from large_payment.decision"), []);
  assert.equal((await sign("eve")).status, "decided");
  assert.deepEqual(await database.query("select payment_id, status from large_payment.decision"), [
    { payment_id: "p1", status: "approved" },
  ]);
});
