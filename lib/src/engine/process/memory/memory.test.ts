import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { expect, test } from "vitest";
import { growthOf, windowsMax } from "./growth.ts";

const limit = 1000;
const hour = 3_600_000;
const lowsOf = (bytes: readonly number[]) =>
  bytes.map((each, index) => ({ atMs: (index * hour) / (bytes.length - 1), bytes: each }));
const hourOf = (at: (part: number) => number) =>
  lowsOf(Array.from({ length: windowsMax }, (_, index) => at(index / (windowsMax - 1))));

test("U-04 steady growth is told with its rate and how long is left", () => {
  const growth = growthOf(
    hourOf((part) => 300 + 100 * part),
    limit,
  )!;
  expect(growth.bytesPerHour).toBeCloseTo(100, -2);
  expect(growth.hoursLeft).toBeGreaterThan(5);
  expect(growth.hoursLeft).toBeLessThan(8);
  expect(growthOf(hourOf((part) => 300 + 100 * part).slice(1), limit)).toBeUndefined();
});

test.each([
  ["a process that warms up and stays", (part: number) => Math.min(500, 100 + 2000 * part)],
  ["one that was busy and is not any more", (part: number) => 500 - 300 * part],
  ["one that grows so slowly that its limit is far", (part: number) => 300 + 10 * part],
])("U-04 %s is no leak", (_, at) => {
  expect(growthOf(hourOf(at), limit)).toBeUndefined();
});

test("U-04 property: what only goes up and down between two bounds is never called a leak over two hours", () => {
  const hours = fc.array(fc.integer({ min: 300, max: 500 }), {
    minLength: windowsMax,
    maxLength: windowsMax,
  });
  fc.assert(
    fc.property(hours, (bytes) => {
      const found = growthOf(lowsOf(bytes), limit);
      // Only what rose in each quarter is; and then a second hour of the same cannot rise above its own end again.
      if (found) expect(growthOf(lowsOf(bytes.toReversed()), limit)).toBeUndefined();
    }),
  );
});

/** Runs the fixture with 64 MB for its objects; answers the warnings that it logged. */
function run(how: "leaks" | "lets go"): Record<string, unknown>[] {
  const path = fileURLToPath(new URL("leak.fixture.mjs", import.meta.url));
  const { stdout, status } = spawnSync(
    process.execPath,
    ["--expose-gc", "--max-old-space-size=64", path, how],
    { encoding: "utf8", env: { ...process.env, TUNTAS_LOG_LEVEL: "info" } },
  );
  expect(status).toBe(0);
  const lines = stdout.split("\n").filter(Boolean);
  return lines.map((line) => JSON.parse(line)).filter(({ event }) => event === "process.memory_growing");
}

test("U-04 V-19 a process that leaks says so before its limit; one that lets go says nothing", () => {
  const [warning] = run("leaks");
  expect(warning).toMatchObject({
    memory: "heap",
    msg: expect.stringMatching(/heap memory grows by .* MB an hour/),
  });
  expect(Number(warning!.bytes)).toBeLessThan(Number(warning!.limitBytes));
  expect(run("lets go").filter(({ memory }) => memory === "heap")).toEqual([]);
});
