// Backpressure of the database: really slow, since its table of processes is locked while a beat is under way.
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { app, start, worker, workflow } from "./index.ts";
import { ask, declare, gate, watch } from "./queue/worker/worker.fixture.ts";
import { testPlatform, type TestPlatform } from "./testing/index.ts";

let kit: TestPlatform;
beforeAll(async () => {
  kit = await testPlatform();
});
afterAll(() => kit[Symbol.asyncDispose]());

/** Lets the next beat wait for so long. */
async function slowBeat(ms: number): Promise<void> {
  const client = await kit.platform.database.dedicatedClient();
  const table = `${kit.schema}.process`;
  try {
    await client.query("begin");
    await client.query(`lock table ${table} in access exclusive mode`);
    const waiting = `select 1 from pg_locks where relation = '${table}'::regclass and not granted`;
    await expect.poll(() => ask(kit.platform, waiting)).not.toEqual([]);
    await pause(ms);
    await client.query("commit");
  } finally {
    await client.end();
  }
}

/** Handlers that run until they are told to end. */
function handlers() {
  const ends: (() => void)[] = [];
  const seen = { running: 0, begun: 0, ended: 0 };
  return {
    seen,
    endOne: () => ends.shift()?.(),
    async handle() {
      const end = gate();
      ends.push(end.open);
      seen.begun++;
      seen.running++;
      await end.promise;
      seen.running--;
      seen.ended++;
    },
  };
}

test("X-11: while the database is slow less is taken, and all of it again when it is well: of a queue, of a workflow's steps", async () => {
  const [messages, steps] = [handlers(), handlers()];
  const limits = { concurrency: 3, slowAbove: { database: "200ms" } } as const;
  const orders = declare();
  const packing = worker(orders, {
    idempotencyKey: "none",
    timeout: "100s",
    ...limits,
    handle: messages.handle,
  });
  const crowd = workflow("crowd", {
    definition: { StartAt: "one", States: { one: { Type: "Task", Resource: "one", End: true } } },
    tasks: { one: steps.handle },
    ...limits,
  });
  await using running = await start(app({ orders, packing, crowd }), { platform: kit.platform });
  const atRecovery: Record<string, number> = {};
  using slower = watch("worker.eased");
  using slowerSteps = watch("workflow.eased", () => (steps.endOne(), true));
  using well = watch("worker.recovered", () => ((atRecovery.messages = messages.seen.running), true));
  using wellSteps = watch("workflow.recovered", () => ((atRecovery.steps = steps.seen.running), true));
  for (let id = 0; id < 5; id++) await orders.send({ id: String(id) });
  for (let id = 0; id < 5; id++) await crowd.start({});
  await expect.poll(() => [messages.seen.running, steps.seen.running]).toEqual([3, 3]);

  await slowBeat(400);
  await slower.until(1);
  messages.endOne();
  await Promise.all([slowerSteps.until(1), well.until(1), wellSteps.until(1)]);
  await expect.poll(() => [messages.seen.begun, steps.seen.begun]).toEqual([4, 4]);
  expect(atRecovery).toEqual({ messages: 2, steps: 2 });
  expect(slower.seen).toMatchObject([{ queue: orders.name, places: 2 }]);
  expect(slowerSteps.seen).toMatchObject([{ workflow: "crowd", places: 2 }]);
  expect(slower.seen[0]!.databaseMs).toBeGreaterThanOrEqual(200);
  expect(well.seen).toMatchObject([{ queue: orders.name, places: 3 }]);
  expect(running.active()).toMatchObject([{ running: 3, places: 3 }]);

  while (messages.seen.ended + steps.seen.ended < 10) {
    messages.endOne();
    steps.endOne();
    await pause(5);
  }
});

test("a limit that is none is refused where it is declared", () => {
  const slowAbove = { database: "2m" } as const;
  const handle = () => undefined;
  const definition = { StartAt: "one", States: { one: { Type: "Succeed" } } } as const;
  const said = /slowAbove\.database: expected a duration from 1ms to 1m such as "100ms", got '2m'/;
  expect(() => worker(declare(), { idempotencyKey: "none", timeout: "1s", slowAbove, handle })).toThrow(said);
  expect(() => workflow("slow", { definition, slowAbove })).toThrow(said);
  expect(() => workflow("none", { definition, concurrency: 0 })).toThrow(
    "concurrency: expected a whole number from 1 to 1000000, got 0",
  );
});
