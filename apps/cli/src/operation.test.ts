import { afterAll, beforeAll, expect, test } from "vitest";
import { app, makeLog, openPlatform, queue, start, worker } from "tuntas";
import { z } from "zod";
import { household, type Household } from "./household.fixture.ts";

let home: Household;
beforeAll(async () => void (home = await household()));
afterAll(() => home[Symbol.asyncDispose]());

/** A queue with this many dead letters. */
async function deadLetters(count: number): Promise<void> {
  const orders = queue("orders", {
    message: z.object({ id: z.number() }),
    deadLetter: { after: 1, owner: "tests", runbook: "none", retention: "14d" },
    poison: "quarantine",
  });
  const work = worker(orders, {
    idempotencyKey: "none",
    timeout: "20s",
    handle() {
      throw Object.assign(new Error("it failed"), { code: "DOWN" });
    },
  });
  const platform = await openPlatform({ databaseUrl: home.url, log: makeLog() });
  const running = await start(app({ orders, work }), { platform });
  for (let id = 0; id < count; id++) await orders.send({ id });
  const scope = { account: "000000000000", region: "us-east-1" };
  const groups = () => platform.queues.deadLetters.groups(scope, {});
  await expect.poll(async () => (await groups())[0]?.count).toBe(count);
  await running.stop();
  await platform.close();
}

test("Q-16 an operation is previewed, asked for, approved by another, shown item by item, and listed", async () => {
  await deadLetters(3);
  const which = ["replay", "--queue", "orders", "--code", "DOWN"];
  expect((await home.json(["operation", "preview", ...which])).document).toMatchObject({
    count: 3,
    forbidden: [],
  });
  expect((await home.run(["operation", "preview", "nope"])).stderr).toContain("expected a kind (replay,");

  const ask = ["operation", "start", ...which, "--limit", "2", "--expected", "2", "--reason", "it is back"];
  const { document } = await home.json([...ask, "--actor", "ada", "--approval", "--key", "k1"]);
  expect(document).toMatchObject({ state: "awaiting_approval", selected: 2 });
  const { id } = document as { id: string };
  const approve = ["operation", "approve", id, "--reason", "seen", "--actor"];
  expect((await home.run([...approve, "ada"])).stderr).toContain("TUNTAS_OPERATION_FOUR_EYES");
  expect((await home.run([...approve, "grace"])).status).toBe(0);
  const shown = async () => (await home.json(["operation", "show", id])).document;
  await expect.poll(shown).toMatchObject({
    state: "completed",
    done: 2,
    decidedBy: "grace",
    items: [{ outcome: "done" }, { outcome: "done" }],
  });
  expect((await home.json([...ask, "--actor", "ada", "--approval", "--key", "k1"])).document).toMatchObject({
    id,
  });
  expect((await home.run(["operation", "list"])).stdout).toMatch(
    /replay +completed +2 of 2 .*ada +it is back/,
  );

  expect(await home.run(["operation", "abort", id, "--reason", "x"])).toMatchObject({
    status: 1,
    stderr: expect.stringContaining("TUNTAS_OPERATION_STATE"),
  });
}, 180_000);
