import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { app, batch, consumer, queue, schedule, start, stream, worker, workflow } from "./index.ts";
import { reconciliation } from "./ledger/index.ts";
import { ask } from "./queue/worker/worker.fixture.ts";
import { testPlatform, type TestPlatform } from "./testing/index.ts";

let kit: TestPlatform;
beforeAll(async () => void (kit = await testPlatform()));
afterAll(() => kit[Symbol.asyncDispose]());

test("a start that fails in the middle leaves nothing behind: what was bound is not, and the next start works", async () => {
  const orders = queue("begun", {
    message: z.object({}),
    deadLetter: { after: 3, owner: "team", runbook: "r.md", retention: "4d" },
  });
  const { databaseUrl, schema, platform } = kit;
  const broken = reconciliation({
    name: "x".repeat(513),
    invariant: "none",
    anomaly: "workflow_missing",
    owner: "team",
    of: { kind: "workflow", name: "none" },
    every: "on demand",
    source: async () => new Map(),
    derived: async () => new Map(),
  });
  await expect(start(app({ orders, broken }), { databaseUrl, schema })).rejects.toMatchObject({
    code: "TUNTAS_REQUEST_INVALID",
  });
  await expect(orders.send({})).rejects.toMatchObject({ code: "TUNTAS_NOT_STARTED" });
  await using _running = await start(app({ orders }), { platform });
  await orders.send({});
});

test("two queues of one name are refused as queues, whatever else there is", () => {
  const make = () =>
    queue("twice", {
      message: z.object({}),
      deadLetter: { after: 3, owner: "team", runbook: "r.md", retention: "4d" },
    });
  expect(() => app({ one: make(), other: make() })).toThrow(
    expect.objectContaining({
      code: "TUNTAS_QUEUE_REGISTERED",
      message: "app: two queues have the name twice",
    }),
  );
});

/** Everything that is kept under a number when an application declares it. */
function declared() {
  const record = z.unknown();
  const nothing = () => undefined;
  const retry = { attempts: 3, base: "1s", max: "1m" } as const;
  const work = queue("counted-work", {
    message: record,
    deadLetter: { after: 3, retention: "4d", owner: "team", runbook: "r.md" },
  });
  const events = stream("counted", {
    record,
    partitions: 2,
    key: "order",
    retention: "1h",
    owner: "team",
    runbook: "r.md",
  });
  return app({
    events,
    worker: worker(work, { idempotencyKey: "none", timeout: "20s", handle: nothing }),
    reader: consumer(events, {
      name: "reader",
      from: "start",
      batch: 10,
      onBadRecord: "park",
      retry,
      timeout: "20s",
      lagWithin: "5m",
      handle: nothing,
    }),
    flow: workflow("Counted", {
      definition: { StartAt: "End", States: { End: { Type: "Succeed" } } },
      tasks: {},
    }),
    bills: batch("counted-bills", {
      input: record,
      partitions: () => [{ key: "all" }],
      handle: nothing,
      validate: () => [],
      promote: nothing,
      staging: { table: "staging", kept: "7d" },
      retry,
      timeout: "20s",
      concurrency: 1,
      priority: 0,
      runsOn: "anywhere",
      owner: "team",
      runbook: "r.md",
    }),
    nightly: schedule("counted-nightly", {
      when: "cron(0 2 * * ? *)",
      timeZone: "Asia/Jakarta",
      overlap: "skip",
      catchUp: "skip",
      target: work,
      succeedsWithin: "1h",
      owner: "team",
      runbook: "r.md",
    }),
  });
}

test("an application that starts again moves no counter: what it declares has its number", async () => {
  const counters = () =>
    ask<{ name: string; last: string }>(
      kit.platform,
      `select sequencename as name, last_value::text as last from pg_sequences where schemaname = $1
         and sequencename not in ('process_id_seq', 'fence') order by 1`,
      [kit.schema],
    );
  const once = async () => {
    await using _running = await start(declared(), { platform: kit.platform });
  };
  await once();
  const before = await counters();
  expect(before).toContainEqual({ name: "stream_consumer_id_seq", last: "1" });
  await once();
  expect(await counters()).toEqual(before);
});
