import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import pg from "pg";
import { expect, test } from "vitest";
import { household } from "./household.fixture.ts";

const cache = fileURLToPath(new URL("../../../node_modules/.cache/", import.meta.url));

const application = `import { app, queue, worker } from "tuntas";
import { timing } from "tuntas/ledger";
import { z } from "zod";

const deadLetter = { after: 5, owner: "orders-team", runbook: "https://runbooks.example/orders", retention: "14d" };
export const orders = queue("order-work", { message: z.object({ id: z.string() }), visibilityTimeout: "30s", deadLetter });
export const orderWorker = worker(orders, { idempotencyKey: ({ id }) => id, timeout: "60s", handle: () => undefined });
export const duplicates = timing({ name: "duplicate check", lease: "2m", heartbeat: "90s", taskTimeout: "30m", businessExpiry: "35m" });
export default app({ orders, orderWorker });
`;

test("P-32 tuntas check names each contradiction with both numbers, the place and the fix", async () => {
  await using home = await household();
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "check-"));
  const file = join(folder, "app.mjs");
  writeFileSync(file, application);
  const { status, document } = await home.json(["check", file]);
  expect(status).toBe(1);
  expect((document as { findings: object[] }).findings).toMatchObject([
    {
      rule: "visibility-budget",
      severity: "error",
      name: "order-work",
      place: `${file}:7`,
      values: [{ ms: 61_000 }, { ms: 30_000 }],
    },
    {
      name: "duplicate check",
      place: `${file}:8`,
      values: [
        { what: "lease", ms: 120_000 },
        { what: "heartbeat", ms: 90_000 },
      ],
      fix: expect.stringContaining("Make the lease shorter"),
    },
    { rule: "drain-too-short", severity: "advice" },
  ]);
  writeFileSync(
    join(folder, "good.mjs"),
    application.replaceAll("60s", "20s").replace('lease: "2m"', 'lease: "30s"'),
  );
  expect(await home.run(["check", join(folder, "good.mjs")])).toMatchObject({
    status: 0,
    stdout: "3 declarations, all in order\n",
  });
  rmSync(folder, { recursive: true });
});

const nightly = `
import { batch } from "tuntas";
const each = { input: z.object({}), partitions: () => [{ key: "all" }], handle: async (_, { tx }) => tx.query("insert into staged select 1"),
  validate: async ({ tx }) => (await tx.query("select from staged")).rows.map(String), promote: () => undefined, staging: { table: "staged", kept: "0s" },
  retry: { attempts: 3, base: "1s", max: "1m" }, timeout: "20s", concurrency: 4, priority: 0, runsOn: "anywhere" };
export const nightly = batch("nightly", { ...each, owner: "data-team", runbook: "https://runbooks.example/nightly" });
`;
/** Nine jobs, each five minutes longer than the one before. */
const growingJobs = `
insert into tuntas.batch (name, staging, attempts, concurrency, priority, retention, owner, runbook) values ('nightly', 'staged', 3, 4, 0, '90 days', 'data-team', 'r');
insert into tuntas.batch_job (batch, key, input, input_hash, priority, actor, reason, state, asked_at, begun_at, ended_at)
select 'nightly', n, '{}', '', 0, 'test', 'test', 'completed', now(), now(), now() + n * interval '5 minutes' from generate_series(1, 9) as n`;

test("W-21 T-18 tuntas check --measured shows what handlers took beside what is declared, and checks with it", async () => {
  await using home = await household();
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "check-"));
  const file = join(folder, "app.mjs");
  const times = `export const times = timing({ name: "order-work", p99: "10s" });`;
  writeFileSync(
    file,
    `${application.replaceAll("60s", "20s").replace('lease: "2m"', 'lease: "30s"')}\n${times}${nightly}`,
  );
  await home.run(["queue", "list"]);
  const client = new pg.Client({ connectionString: home.url });
  await client.connect();
  await client.query(
    "insert into tuntas.handler_duration values ('order-work', date_trunc('hour', now()), 60, 500)",
  );
  await client.query(growingJobs);
  await client.end();
  expect((await home.json(["check", file])).status).toBe(0);
  const { status, document } = await home.json(["check", file, "--measured"]);
  expect(status).toBe(1);
  expect(document).toMatchObject({
    findings: [
      {
        rule: "visibility-budget",
        name: "order-work",
        message: expect.stringContaining("over 500 attempts, declared 10 s"),
      },
      { rule: "p99-exceeded", name: "order-work" },
      {
        rule: "batch-grows",
        name: "nightly",
        message: expect.stringContaining("10 min, then 25 min, then 40 min"),
      },
    ],
    measured: [{ handler: "order-work", attempts: 500, p99Ms: 2 ** 15 }],
  });
  expect((await home.run(["check", file, "--measured"])).stdout).toMatch(/order-work\s+500\s+33 s\s+33 s/);
  rmSync(folder, { recursive: true });
});
