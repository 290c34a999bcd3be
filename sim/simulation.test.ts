// Seeded schedules of faults over real PostgreSQL. `TUNTAS_SIM_SEEDS=1-1000` runs others; a seed that failed once gets a
// test by name below.
import { expect, test } from "vitest";
import { simulate, type Run } from "./simulation.ts";

/** `7` or `1-200`. */
function seedsOf(text: string): number[] {
  const [first, last] = text.split("-").map(Number) as [number, number?];
  return Array.from({ length: (last ?? first) - first + 1 }, (_, index) => first + index);
}

const seeds = seedsOf(process.env.TUNTAS_SIM_SEEDS ?? "1-20");
/** Worlds that live at the same time; most of a world's life is waiting. */
const lanes = 4;
/** Seeds that a world lives through. A failing one is run again with those before it: `TUNTAS_SIM_SEEDS=9-14`. */
const seedsAWorld = 8;

async function runAll(): Promise<Run[]> {
  const blocks: number[][] = [];
  for (let i = 0; i < seeds.length; i += seedsAWorld) blocks.push(seeds.slice(i, i + seedsAWorld));
  const runs: Run[] = [];
  const lane = async () => {
    for (let block = blocks.shift(); block !== undefined; block = blocks.shift()) {
      const [first] = block as [number];
      const failed = (cause: unknown) => [
        { seed: first, struck: [], accepted: 0, amiss: [String((cause as Error).stack ?? cause)] },
      ];
      runs.push(...(await simulate(block).catch(failed)));
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return runs;
}

test(
  `seeds ${seeds[0]} to ${seeds.at(-1)}: whatever fails, what was accepted happens once and in order (W-17 W-18)`,
  { timeout: 240_000 + seeds.length * 30_000 },
  async () => {
    const runs = await runAll();
    expect(runs.filter(({ amiss }) => amiss.length > 0)).toEqual([]);
    expect(runs.reduce((sum, { accepted }) => sum + accepted, 0)).toBeGreaterThan(seeds.length * 5);
  },
);
