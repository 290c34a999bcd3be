import { channel } from "node:diagnostics_channel";
import fc from "fast-check";
import { expect, test } from "vitest";
import { z } from "zod";
import { app, openPlatform, queue, start, worker, workflow } from "../../index.ts";
import { statement } from "../../pg/database.ts";
import { testPlatform } from "../../testing/index.ts";
import { readDurations, startDurations } from "./index.ts";
import { bucketCount, bucketOf, upperMs } from "./state.ts";

const silent = { debug: () => undefined };
const attempt = (queueName: string, durationMs: number) =>
  channel("tuntas.worker.attempt").publish({ queue: queueName, durationMs });

test("property: every duration lies in the bucket that reaches it, and no bucket further than a fifth", () => {
  fc.assert(
    fc.property(fc.double({ min: 1, max: 2 ** 24, noNaN: true }), (ms) => {
      const upper = upperMs(bucketOf(ms));
      expect(upper).toBeGreaterThanOrEqual(ms * (1 - 1e-9));
      expect(upper).toBeLessThan(ms * 1.2);
    }),
  );
  expect([bucketOf(0), bucketOf(0.2), bucketOf(1e12)]).toEqual([0, 0, bucketCount - 1]);
});

test("what several processes counted is read as one, and 99 of a hundred attempts took at most the p99", async () => {
  await using kit = await testPlatform();
  const { database } = kit.platform;
  for (const round of [1, 2]) {
    const durations = startDurations({ database, log: silent });
    for (let ms = 1; ms <= 1000; ms++) attempt("by size", ms * round);
    await durations.close();
  }
  const measured = (await readDurations(database)).find((each) => each.handler === "by size")!;
  expect(measured.attempts).toBe(2000);
  expect(measured.p99Ms).toBeGreaterThanOrEqual(1980);
  expect(measured.p99Ms).toBeLessThan(1980 * 1.2);
  expect(measured.p50Ms).toBeLessThan(measured.p99Ms);
});

test("where nothing ran nothing is written; what is older than a week is forgotten by the next write", async () => {
  await using kit = await testPlatform();
  const { database } = kit.platform;
  const rows = statement(
    `select count(*)::int as count from tuntas.handler_duration where handler in ('old', 'new')`,
  );
  const written: string[] = [];
  const listening = {
    run: async (...args: Parameters<typeof database.run>) => (
      written.push(args[0].name),
      database.run(...args)
    ),
  };
  const durations = startDurations({ database: listening as never, log: silent });
  await durations.flush();
  attempt("old", 0);
  await durations.flush();
  expect(written).toEqual([]);
  attempt("old", 5);
  await durations.flush();
  expect(await database.run(rows)).toEqual([{ count: 1 }]);
  await kit.advance(8 * 86_400_000);
  expect((await readDurations(database)).filter(({ handler }) => handler === "old")).toEqual([]);
  attempt("new", 5);
  await durations.close();
  expect(await database.run(rows)).toEqual([{ count: 1 }]);
});

test("Q-20 a worker's attempts are measured, and written when its platform closes", async () => {
  await using kit = await testPlatform();
  const other = await openPlatform({ databaseUrl: kit.databaseUrl, schema: kit.schema });
  const deadLetter = {
    after: 5,
    owner: "orders",
    runbook: "https://runbooks.example/o",
    retention: "14d",
  } as const;
  const of = queue("measured-work", { message: z.object({ n: z.number() }), deadLetter });
  let done = 0;
  const work = worker(of, {
    idempotencyKey: ({ n }) => String(n),
    timeout: "5s",
    async handle() {
      await new Promise((resolve) => setTimeout(resolve, 30));
      done++;
    },
  });
  const running = await start(app({ of, work }), { platform: other });
  for (let n = 0; n < 5; n++) await of.send({ n });
  await expect.poll(() => done).toBe(5);
  await running.stop();
  await other.close();
  const [measured] = await readDurations(kit.platform.database);
  expect(measured).toMatchObject({ handler: "measured-work", attempts: 5 });
  expect(measured!.p99Ms).toBeGreaterThanOrEqual(29);
});

test("Q-20 the handlers of a workflow's tasks are measured by workflow and task", async () => {
  await using kit = await testPlatform();
  const other = await openPlatform({ databaseUrl: kit.databaseUrl, schema: kit.schema });
  const pause = () => new Promise<void>((resolve) => setTimeout(resolve, 30));
  const state = (more: object) => ({ Type: "Task", Resource: "look", ...more });
  const looking = workflow("Looking", {
    definition: { StartAt: "A", States: { A: state({ Next: "B" }), B: state({ End: true }) } } as never,
    tasks: { look: pause },
  });
  const running = await start(app({ looking }), { platform: other });
  const { arn } = await looking.start({});
  const find = () => other.workflows.executions.find(arn);
  await expect.poll(async () => (await find())!.status).toBe("SUCCEEDED");
  await running.stop();
  await other.close();
  const [measured] = await readDurations(kit.platform.database);
  expect(measured).toMatchObject({ handler: "Looking/look", attempts: 2 });
  expect(measured!.p99Ms).toBeGreaterThanOrEqual(29);
});
