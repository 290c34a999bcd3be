// A seed: a world is loaded, harmed and healed, comes to rest, and is looked at. Some seeds share a world, one after another,
// since its making costs more than a seed.
import { setTimeout as pause } from "node:timers/promises";
import { inspect } from "node:util";
import { within } from "../lib/src/engine/outside/within.ts";
import { faults } from "./fault/faults.ts";
import { makeRandom, type Random } from "./fault/random.ts";
import { findAmiss, tellHolders } from "./invariants.ts";
import { withWorld, type World } from "./world.ts";

export interface Run {
  readonly seed: number;
  /** The faults in the order in which they struck. */
  readonly struck: readonly string[];
  readonly accepted: number;
  /** How many of the cuts among them found a commit. */
  readonly cuts: number;
  /** What is amiss at the end; empty where all is well. */
  readonly amiss: readonly string[];
}

// Bounds for what hangs, which a machine that is busy with other things stays below.
const [restMsMax, seedMsMax] = [180_000, 600_000];
const stepAfterMs = 2000;
const groupsOf = (seed: number) => [`red-${seed}`, `green-${seed}`];

/** In every fourth seed workers have the time to rest: who rests is given messages by their senders. */
const isCalm = (seed: number): boolean => seed % 4 === 0;

/** Sends until it is told to stop; several hands at once, as callers are. */
async function load(world: World, seed: number, over: AbortSignal): Promise<void> {
  const random = makeRandom(seed + 1);
  const slower = isCalm(seed) ? 5 : 1;
  const hand = async (paceMs: number, act: () => Promise<void>) => {
    while (!over.aborted) {
      await act();
      await pause(random.between(paceMs / 5, paceMs));
    }
  };
  await Promise.all([
    ...Array.from({ length: 5 }, () => hand(60 * slower, () => world.send(random))),
    // About as fast as a group is handled: what waits until all is healed is struck by nothing.
    ...groupsOf(seed).map((group) => hand(250 * slower, () => world.sendInOrder(random, group))),
    hand(100 * slower, () => world.startExecution(random)),
    hand(150, () => world.sendQuietly(random)),
  ]);
}

/** Strikes one fault after another, and heals them all. */
async function harm(world: World, seed: number, random: Random, struck: string[]): Promise<void> {
  const [leastMs, mostMs] = isCalm(seed) ? [200, 1000] : [20, 200];
  for (let left = random.between(4, 10); left > 0; left--) {
    await pause(random.between(leastMs, mostMs));
    const fault = random.pick(faults);
    struck.push(fault.name);
    await fault.strike(world, random);
  }
  await world.heal();
}

const working = `select (select count(*) from tuntas.ready) + (select count(*) from tuntas.delayed)
  + (select count(*) from tuntas.held) + (select count(*) from tuntas.outbox)
  + (select count(*) from tuntas.execution where status = 'RUNNING') as n`;

/**
 * Waits until nothing is under way. What a lost process held is not waited for: the clock goes past its lease. It does so less
 * and less often, since a step robs everybody: who is slow would never come to an end.
 */
async function rest(world: World): Promise<string[]> {
  const begunMs = performance.now();
  for (let stepMs = stepAfterMs; ;) {
    await pause(100);
    const [{ n }] = (await world.ask(working, [], "working")) as [{ n: string }];
    if (n === "0") return [];
    const waitedMs = performance.now() - begunMs;
    if (waitedMs > restMsMax)
      return [`no rest: ${n} things are still under way after three minutes`, ...(await tellHolders(world))];
    if (waitedMs < stepMs) continue;
    await world.step(16_000);
    stepMs = waitedMs * 2;
  }
}

/** Answers what is amiss; notes what strikes. */
async function live(world: World, seed: number, struck: string[]): Promise<string[]> {
  const random = makeRandom(seed);
  await world.begin(seed);
  const over = new AbortController();
  await Promise.all([
    load(world, seed, over.signal),
    harm(world, seed, random, struck).finally(() => over.abort()),
  ]);
  const [unrest] = await Promise.all([rest(world), world.ended()]);
  return [...unrest, ...(await findAmiss(world))];
}

/** What fails or never ends on the way is amiss like what is found at the end. */
async function run(world: World, seed: number): Promise<Run> {
  const struck: string[] = [];
  const cutsBefore = world.cuts;
  const amiss = await within(AbortSignal.timeout(seedMsMax), () => live(world, seed, struck)).catch(
    (cause: unknown) => [`after ${struck.at(-1) ?? "the beginning"}: ${inspect(cause)}`],
  );
  const { messages, executions } = world.promised;
  return {
    seed,
    struck,
    accepted: messages.size + executions.size,
    cuts: world.cuts - cutsBefore,
    amiss,
  };
}

/** Runs seeds to their ends, in one world. One that left something amiss is the last: what comes after may be its doing. */
export function simulate(seeds: readonly number[]): Promise<Run[]> {
  return withWorld(async (world) => {
    const runs: Run[] = [];
    for (const seed of seeds) {
      runs.push(await run(world, seed));
      if (runs.at(-1)!.amiss.length > 0) break;
    }
    return runs;
  });
}
