// Seeded schedules of faults over real PostgreSQL. `TUNTAS_SIM_SEEDS=1-1000` runs others; a seed that failed once gets a
// test by name below.
import { subscribe } from "node:diagnostics_channel";
import { describe, expect, test } from "vitest";
import { faults } from "./fault/faults.ts";
import { simulate, type Run } from "./simulation.ts";

/** `7` or `1-200`. */
function seedsOf(text: string): number[] {
  const [first, last] = text.split("-").map(Number) as [number, number?];
  return Array.from({ length: (last ?? first) - first + 1 }, (_, index) => first + index);
}

const seeds = seedsOf(process.env.TUNTAS_SIM_SEEDS ?? "1-20");
/** Seeds that a world lives through. A failing one is run again with those before it: `TUNTAS_SIM_SEEDS=11-14`. */
const seedsAWorld = 10;
const blocks = Array.from({ length: Math.ceil(seeds.length / seedsAWorld) }, (_, index) =>
  seeds.slice(index * seedsAWorld, (index + 1) * seedsAWorld),
);
const lived = new Map<number, Run>();
let handedOver = 0;
subscribe("tuntas.queue.handed_over", () => handedOver++);

// Several worlds live at a time, as many as the runner lets: most of a world's life is waiting.
describe.concurrent("whatever fails, what was accepted happens once and in order (W-17 W-18)", () => {
  test.each(blocks.map((block) => [block[0]!, block.at(-1)!, block] as const))(
    "seeds %d to %d",
    { timeout: 120_000 + seedsAWorld * 60_000 },
    async (_first, _last, block) => {
      const runs = await simulate(block);
      for (const run of runs) lived.set(run.seed, run);
      expect(runs.filter(({ amiss }) => amiss.length > 0)).toEqual([]);
    },
  );
});

// Fewer seeds may draw one kind of fault too seldom for it to find anything to strike.
test.runIf(seeds.length >= 20)("every kind of fault struck, and there was work for it to strike", () => {
  const runs = [...lived.values()];
  const struck = runs.flatMap((run) => run.struck);
  const times = Object.fromEntries(
    faults.map(({ name }) => [name, struck.filter((each) => each === name).length]),
  );
  const accepted = runs.reduce((sum, run) => sum + run.accepted, 0);
  const cuts = runs.reduce((sum, run) => sum + run.cuts, 0);
  console.log(
    `${runs.length} seeds accepted ${accepted} things, and handed over ${handedOver} messages; ${cuts} connections were cut at a commit`,
    times,
  );
  expect(Object.entries(times).filter(([, count]) => count === 0)).toEqual([]);
  expect(cuts).toBeGreaterThan(seeds.length / 4);
  expect(accepted).toBeGreaterThan(seeds.length * 5);
  expect(handedOver).toBeGreaterThan(seeds.length);
});
