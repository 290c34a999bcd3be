// A Map that has many more items than it may have at once, in a process of its own: `bench/fanout.mjs` at a small size.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { testDatabase } from "../testing/index.ts";

const script = fileURLToPath(new URL("../../../bench/fanout.mjs", import.meta.url));

test("X-10: a Map of many items has no more handlers and connections at once than its MaxConcurrency, and says nothing of a leak", async () => {
  await using database = await testDatabase();
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, "--items", "300"], {
    encoding: "utf8",
    env: { ...process.env, DATABASE_URL: database.url },
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  const { handled, handlers, connections } = JSON.parse(stdout);
  expect(handled).toBe(300);
  expect(handlers).toBeGreaterThan(10); // else nobody would have warned
  expect(Math.max(handlers, connections)).toBeLessThanOrEqual(20);
}, 120_000);
