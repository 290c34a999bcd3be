// A seed: a world is loaded, harmed and healed, comes to rest, and is looked at. Some seeds share a world, one after another,
// since its making costs more than a seed.
import { setTimeout as pause } from "node:timers/promises";
import { faults } from "./fault/faults.ts";
import { makeRandom, type Random } from "./fault/random.ts";
import { findAmiss } from "./invariants.ts";
import { withWorld, type World } from "./world.ts";

export interface Run {
  readonly seed: number;
  /** The faults in the order in which they struck. */
  readonly struck: readonly string[];
  readonly accepted: number;
  /** What is amiss at the end; empty where all is well. */
  readonly amiss: readonly string[];
}

const restMaxMs = 60_000;
const groupsOf = (seed: number) => [`red-${seed}`, `green-${seed}`];

/** Sends until it is told to stop; several hands at once, as callers are. */
function load(world: World, seed: number, over: AbortSignal): Promise<unknown> {
  const random = makeRandom(seed + 1);
  const hand = async (act: () => Promise<void>) => {
    while (!over.aborted) {
      await act();
      await pause(random.between(10, 60));
    }
  };
  return Promise.all([
    ...Array.from({ length: 5 }, () => hand(() => world.send(random))),
    ...groupsOf(seed).map((group) => hand(() => world.sendInOrder(random, group))),
    hand(() => world.startExecution(random)),
  ]);
}

async function harm(world: World, random: Random): Promise<string[]> {
  const struck: string[] = [];
  for (let left = random.between(4, 10); left > 0; left--) {
    await pause(random.between(20, 200));
    const fault = random.pick(faults);
    struck.push(fault.name);
    await fault.strike(world, random);
  }
  return struck;
}

const working = `select (select count(*) from tuntas.ready) + (select count(*) from tuntas.delayed)
  + (select count(*) from tuntas.held) + (select count(*) from tuntas.outbox)
  + (select count(*) from tuntas.execution where status = 'RUNNING') as n`;

/** Waits until nothing is under way. What a lost process held is not waited for: the clock goes past its lease, once in a while. */
async function rest(world: World): Promise<string[]> {
  const until = performance.now() + restMaxMs;
  for (let round = 0; ; round++) {
    if (round % 40 === 0) await world.step(16_000);
    await pause(50);
    const [{ n }] = (await world.ask(working)) as [{ n: string }];
    if (n === "0") return [];
    if (performance.now() > until) return [`no rest: ${n} things are still under way after a minute`];
  }
}

async function live(world: World, seed: number): Promise<Run> {
  const random = makeRandom(seed);
  await world.begin(seed);
  const over = new AbortController();
  const loaded = load(world, seed, over.signal);
  const struck = await harm(world, random);
  await world.heal();
  over.abort();
  await loaded;
  const amiss = [...(await rest(world)), ...(await findAmiss(world))];
  const { messages, executions } = world.promised;
  return { seed, struck, accepted: messages.size + executions.size, amiss };
}

/** Runs seeds to their ends, in one world. One that left something amiss is the last: what comes after may be its doing. */
export function simulate(seeds: readonly number[]): Promise<Run[]> {
  return withWorld(async (world) => {
    const runs: Run[] = [];
    for (const seed of seeds) {
      const run = await live(world, seed);
      runs.push(run);
      if (run.amiss.length > 0) break;
    }
    return runs;
  });
}
