// The recipe for batches runs as it stands: its code against the built package, its commands by the built command.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { blocksOf, openKitchen, type Kitchen } from "./kitchen.fixture.ts";

const page = new URL("batch.md", import.meta.url);
const [started, list, show, retry, completed] = blocksOf(page, "sh")[0]!.trim().split("\n") as [
  string,
  string,
  string,
  string,
  string,
];

let kitchen: Kitchen;
beforeAll(async () => {
  kitchen = await openKitchen("batch");
  for (const tables of blocksOf(page, "sql").slice(0, 1)) await kitchen.client.query(tables);
});
afterAll(() => kitchen.close());

const totals = async () =>
  (
    await kitchen.client.query(
      "select count(*)::int as payments, coalesce(sum(cents), 0)::int as cents from payment",
    )
  ).rows[0] as object;

test("B-12 docs/recipes/batch.md: a CSV import with a bad line, retried where it failed, and scoring by a view", async () => {
  const { payments, scores, monthEnd, app, start, importFile } = await kitchen.recipe("batch", ["app"]);
  const file = join(kitchen.folder, "payments.csv");
  const lines = Array.from({ length: 2500 }, (_, index) => `payment-${index + 1},${index}`);
  writeFileSync(file, lines.with(1499, "payment-1500,much").join("\n"));
  const running = await start(app({ payments, scores, monthEnd }), { databaseUrl: kitchen.url });
  const { batches } = running.platform;
  try {
    expect((await kitchen.type(started.replace("payments.csv", file))).out).toContain("created job 1");
    expect(await batches.settled("1")).toMatchObject({ state: "failed", partitions: { done: 2, failed: 1 } });
    expect(await totals()).toEqual({ payments: 0, cents: 0 });
    expect(await kitchen.type(list)).toMatchObject({
      code: 1,
      out: expect.stringMatching(/1 failed[^]*BAD_LINE: line 1500: payment-1500,much/),
    });
    expect((await kitchen.type(show)).out).toMatch(/2 +1001-2000 +failed +1 .*BAD_LINE: line 1500/);
    writeFileSync(file, lines.join("\n"));
    await kitchen.type(retry);
    expect(await batches.settled("1")).toMatchObject({ state: "completed", rows: 2500 });
    expect(await totals()).toEqual({ payments: 2500, cents: (2499 * 2500) / 2 });
    expect(await importFile(file)).toEqual({ status: "duplicate", jobId: "1" });
    expect(await kitchen.type(completed)).toMatchObject({
      code: 0,
      out: expect.stringMatching(/3 of 3 \(100 %\)/),
    });

    await kitchen.client.query(blocksOf(page, "sql")[1]!);
    const seen = async () =>
      (await kitchen.client.query("select count(*)::int as n from score")).rows[0] as object;
    const first = await scores.start({ month: "2026-03", customers: 25_000 });
    expect(await batches.settled(first.jobId)).toMatchObject({
      state: "completed",
      partitions: { total: 3 },
    });
    expect(await seen()).toEqual({ n: 25_000 });
    const second = await scores.start({ month: "2026-04", customers: 30_000 });
    await batches.settled(second.jobId);
    expect(await seen()).toEqual({ n: 30_000 });

    await monthEnd.start({ month: "2026-05", customers: 20_000 });
    const last = "select status, output::json from tuntas.execution";
    await expect
      .poll(async () => (await kitchen.client.query(last)).rows)
      .toEqual([
        {
          status: "SUCCEEDED",
          output: {
            batch: "scores",
            job: expect.any(String),
            partitions: expect.any(Number),
            rows: expect.any(Number),
          },
        },
      ]);
    expect(await seen()).toEqual({ n: 20_000 });
    // Jobs that no step waits for have told nobody.
    await expect.poll(async () => (await kitchen.client.query("select from tuntas.outbox")).rows).toEqual([]);
  } finally {
    await running.stop();
  }
}, 240_000);
