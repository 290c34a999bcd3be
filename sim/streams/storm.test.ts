// Y-03 Y-04 Y-07 Y-11: streams in a storm of faults and of what people do to them. A few seeds are a test; `npm run storm` as many as
// one likes: `npm run storm -- --seeds 1-100 --acts 60`.
import { expect, test } from "vitest";
import { testPlatform } from "../../lib/src/testing/index.ts";
import { openLedger } from "./ledger.ts";
import { weather } from "./storm.ts";

const [first, last] = (process.env.TUNTAS_STORM_SEEDS ?? "1-2").split("-").map(Number) as [number, number?];
const acts = Number(process.env.TUNTAS_STORM_ACTS ?? 20);
const seeds = Array.from({ length: (last ?? first) - first + 1 }, (_, at) => first + at);

test.concurrent.each(seeds)(
  "seed %d: each record has its effect once a generation, in the order of its key, and nothing is left over",
  { timeout: 300_000 + acts * 5000 },
  async (seed) => {
    await using kit = await testPlatform({ name: `storm ${seed}` });
    await openLedger(kit);
    const { amiss, ...figures } = await weather({ kit, seed, acts });
    console.log(JSON.stringify({ ...figures, amiss }));
    expect(amiss).toEqual([]);
    expect(figures.effects).toBeGreaterThan(figures.records / 4);
  },
);
