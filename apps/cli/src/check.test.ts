import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { expect, test } from "vitest";
import { household } from "./household.fixture.ts";

const cache = fileURLToPath(new URL("../../../node_modules/.cache/", import.meta.url));

const application = `import { app, queue, worker } from "tuntas";
import { timing } from "tuntas/ledger";
import { z } from "zod";

const deadLetter = { after: 5, owner: "orders-team", runbook: "runbooks/orders.md", retention: "14d" };
export const orders = queue("order-work", { message: z.object({}), visibilityTimeout: "30s", deadLetter });
export const orderWorker = worker(orders, { idempotencyKey: () => "k", timeout: "60s", handle: () => undefined });
export const duplicates = timing({ name: "duplicate check", lease: "2m", heartbeat: "90s", taskTimeout: "30m", businessExpiry: "35m" });
export default app({ orders, orderWorker });
`;

test("P-32 tuntas check names each contradiction with both numbers, the place and the fix", async () => {
  await using home = await household();
  const folder = mkdtempSync(join(cache, "check-"));
  const file = join(folder, "app.mjs");
  writeFileSync(file, application);
  const { status, document } = await home.json(["check", file]);
  expect(status).toBe(1);
  expect((document as { findings: object[] }).findings).toMatchObject([
    { name: "order-work", place: file, values: [{ ms: 61_000 }, { ms: 30_000 }] },
    {
      name: "duplicate check",
      place: `${file}:8`,
      values: [
        { what: "lease", ms: 120_000 },
        { what: "heartbeat", ms: 90_000 },
      ],
      fix: expect.stringContaining("Make the lease shorter"),
    },
  ]);
  writeFileSync(
    join(folder, "good.mjs"),
    application.replace("30s", "61s").replace('lease: "2m"', 'lease: "30s"'),
  );
  expect(await home.run(["check", join(folder, "good.mjs")])).toMatchObject({
    status: 0,
    stdout: "2 declarations, all in order\n",
  });
  rmSync(folder, { recursive: true });
});
