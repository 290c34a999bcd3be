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

test("W-21 tuntas check --measured shows what handlers took beside what is declared, and checks with it", async () => {
  await using home = await household();
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "check-"));
  const file = join(folder, "app.mjs");
  const times = `export const times = timing({ name: "order-work", p99: "10s" });`;
  writeFileSync(
    file,
    `${application.replaceAll("60s", "20s").replace('lease: "2m"', 'lease: "30s"')}\n${times}`,
  );
  await home.run(["queue", "list"]);
  const client = new pg.Client({ connectionString: home.url });
  await client.connect();
  await client.query(
    "insert into tuntas.handler_duration values ('order-work', date_trunc('hour', now()), 60, 500)",
  );
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
    ],
    measured: [{ handler: "order-work", attempts: 500, p99Ms: 2 ** 15 }],
  });
  expect((await home.run(["check", file, "--measured"])).stdout).toMatch(/order-work\s+500\s+33 s\s+33 s/);
  rmSync(folder, { recursive: true });
});
