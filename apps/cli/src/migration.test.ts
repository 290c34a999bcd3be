// An application's tables as a step of its deployment, with the built command as a real process.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { household } from "./household.fixture.ts";

const cache = fileURLToPath(new URL("../../../node_modules/.cache/", import.meta.url));

const application = `import { app } from "tuntas";
export default app({}, { migrations: { schema: "shop", folder: new URL("./", import.meta.url), run: "apart" } });
`;

test("M-01 M-07 M-08 tuntas migration run: the plan first, then each file with its time, then nothing; what fails is status 1", async () => {
  await using home = await household();
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "migration-"));
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  write("app.mjs", application);
  write("0001-item.sql", "create table shop.item (name text); alter table shop.item drop column name");
  const run = (...options: string[]) => ["migration", "run", join(folder, "app.mjs"), ...options];

  const plan = await home.run(run("--dry-run"));
  expect([plan.status, plan.stdout]).toEqual([0, expect.stringContaining("! alter table shop.item drop")]);
  const { document } = await home.json(run());
  expect(document).toEqual({ schema: "shop", ran: [{ name: "0001-item.sql", ms: expect.any(Number) }] });
  expect((await home.run(run())).stdout).toContain("nothing has run");
  write("0002-broken.sql", "create table shop.item ()");
  const failed = await home.run(run());
  expect([failed.status, failed.stderr]).toEqual([1, expect.stringContaining("TUNTAS_MIGRATION_FAILED")]);
  rmSync(folder, { recursive: true });
});
