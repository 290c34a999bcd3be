import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { app, queue, start, worker, rejected, type RunningApp } from "../index.ts";
import { defaultScope } from "../queue/contract.ts";
import { testPlatform, type TestPlatform } from "../testing/index.ts";

let kit: TestPlatform;
beforeAll(async () => {
  kit = await testPlatform();
});
afterAll(() => kit[Symbol.asyncDispose]());

async function sumOf(name: string, labels: Record<string, string>): Promise<number> {
  const { series } = kit.platform;
  const toMs = (await series.nowMs()) + 1;
  const found = await series.read({ name, labels, fromMs: toMs - 3600_000, toMs, stepMs: 60_000 });
  return found.flatMap(({ points }) => points).reduce((sum, point) => sum + point.sum, 0);
}

async function lastOf(name: string, labels: Record<string, string>): Promise<number | undefined> {
  const { series } = kit.platform;
  const toMs = (await series.nowMs()) + 1;
  const [found] = await series.read({ name, labels, fromMs: toMs - 600_000, toMs, stepMs: 10_000 });
  return found?.points.at(-1)?.last;
}

const rowsWritten = async (): Promise<number> => {
  const { rows } = await kit.platform.database.transaction((tx) =>
    tx.client.query(`select coalesce(sum(samples), 0)::int as count from ${kit.schema}.series_point`),
  );
  return rows[0].count as number;
};

test("what a process counts and what the queues are like becomes a series, by the queue's name", async () => {
  const { platform } = kit;
  const { queue: made } = await platform.queues.catalog.create(defaultScope, "figures", {});
  const send = (body: string) =>
    platform.queues.sender.send(made, { messageId: crypto.randomUUID(), body }, "000000000000");
  await Promise.all(["a", "b", "c"].map(send));
  await expect
    .poll(() =>
      platform.sample().then(() => lastOf("tuntas_queue_depth", { queue: "figures", state: "ready" })),
    )
    .toBe(3);
  expect(await sumOf("tuntas_queue_messages_total", { queue: "figures", event: "sent" })).toBe(3);
  await kit.advance(30_000);
  await platform.sample();
  expect(await lastOf("tuntas_queue_oldest_age_seconds", { queue: "figures" })).toBeGreaterThanOrEqual(30);
});

test("attempts by outcome, from a worker", async () => {
  const { platform } = kit;
  const orders = queue("counted-orders", {
    message: z.object({ good: z.boolean() }),
    deadLetter: { after: 3, owner: "team", runbook: "r.md", retention: "4d" },
  });
  const work = worker(orders, {
    idempotencyKey: "none",
    timeout: "5s",
    handle: ({ good }) => {
      if (!good) throw rejected({ code: "NO", message: "no" });
    },
  });
  await using running: RunningApp = await start(app({ orders, work }), { platform });
  void running;
  await Promise.all([true, true, false].map((good) => orders.send({ good })));
  await expect
    .poll(async () => {
      await platform.sample();
      return Promise.all(
        ["done", "rejected"].map((outcome) =>
          sumOf("tuntas_worker_attempts_total", { queue: "counted-orders", outcome }),
        ),
      );
    })
    .toEqual([2, 1]);
});

test("nothing is written while nothing changes", async () => {
  const { platform } = kit;
  const { queue: made } = await platform.queues.catalog.create(defaultScope, "figures", {});
  await platform.queues.catalog.purge(made);
  // PostgreSQL counts a session's changes up to ten seconds late.
  await expect
    .poll(
      async () => {
        await platform.sample();
        const before = await rowsWritten();
        await platform.sample();
        return (await rowsWritten()) - before;
      },
      { interval: 500 },
    )
    .toBe(0);
});
