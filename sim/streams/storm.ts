// One storm: a stream whose readers are killed, frozen and taken for dead, while people rewind, replay, put successors in their
// place and add partitions, and retention drops what is past. What becomes of it is the ledger's; here it is only let loose.
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import { app, start, stream } from "tuntas";
import { forkReady } from "../../lib/src/engine/child.fixture.ts";
import type { TestPlatform } from "../../lib/src/testing/index.ts";
import type { RewindTo } from "../../lib/src/stream/contract.ts";
import { makeRandom, type Random } from "../fault/random.ts";
import { persevere } from "../patience.ts";
import { onStorm, readLedger } from "./ledger.ts";
import { judge } from "./judge.ts";

const by = { by: "storm", reason: "by its seed" };
const record = z.object({ n: z.number(), isBad: z.boolean() });
const partitionNumbers = [2, 3, 5, 8];
const keys = Array.from({ length: 12 }, (_, at) => `account ${at}`);
const settleMs = 120_000;
const processes = 3;

export const isBad = (n: number): boolean => n % 19 === 7;

interface Served {
  readonly name: string;
  readonly from: "start" | "end";
}

interface Life {
  child: ChildProcess;
  frozen: boolean;
}

/** Everything that the acts of one seed share. */
interface Storm {
  readonly kit: TestPlatform;
  readonly name: string;
  readonly random: Random;
  readonly lives: Life[];
  readonly failures: string[];
  readonly did: Map<string, number>;
  partitions: number;
  /** The one whose place is to be taken, and who is to take it. */
  consumers: Served[];
  /** Those whose place has been taken: a deployment from before still declares them. */
  past: Served[];
  /** All that there have been. */
  made: number;
  appended: number;
  readonly numbers: Map<string, number>;
}

const declared = ({ name, partitions }: Storm) =>
  stream(name, {
    record,
    partitions,
    key: "account",
    retention: "1m",
    owner: "sim",
    runbook: "sim/README.md",
  });

const bornDead = 0.004;

/** One that dies before it is ready is followed by the next. */
const spawn = (storm: Storm, dies?: number): Promise<Life> =>
  persevere("a reader begins", () => fork(storm, dies), settleMs);

async function fork(storm: Storm, dies = bornDead): Promise<Life> {
  const { kit, name, partitions } = storm;
  const consumers = storm.random.chance(0.3) ? [...storm.past, ...storm.consumers] : storm.consumers;
  const who = `reader ${++storm.made}`;
  const { databaseUrl, schema } = kit;
  const { child } = await forkReady(new URL("reader.mjs", import.meta.url), {
    databaseUrl,
    schema,
    name,
    who,
    dies,
    partitions,
    consumers,
  });
  child.on("message", ({ failed }: any) => failed && storm.failures.push(failed));
  return { child, frozen: false };
}

const isAlive = ({ child }: Life): boolean => child.exitCode === null && child.signalCode === null;

/** kill -9; resolves once it is gone. */
async function end({ child }: Life): Promise<void> {
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}

/** Puts living processes where there are dead ones; one may die before it is ready, as it may later. */
async function respawn(storm: Storm, dies?: number): Promise<void> {
  const missing = storm.lives.flatMap((life, at) => (isAlive(life) ? [] : [at]));
  await Promise.all(missing.map(async (at) => (storm.lives[at] = await spawn(storm, dies))));
}

const pickAlive = (storm: Storm): Life | undefined => {
  const alive = storm.lives.filter((life) => isAlive(life) && !life.frozen);
  return alive.length > 0 ? storm.random.pick(alive) : undefined;
};

async function append(storm: Storm): Promise<void> {
  const { kit, random } = storm;
  const of = declared(storm);
  const count = random.between(5, 40);
  for (let made = 0; made < count; made++) {
    const key = random.pick(keys);
    const n = (storm.numbers.get(key) ?? 0) + 1;
    storm.numbers.set(key, n);
    storm.appended++;
    await kit.platform.streams.append(of as never, { n, isBad: isBad(n) }, { key });
  }
}

async function kill(storm: Storm): Promise<void> {
  const count = storm.random.between(1, 3);
  const struck = Array.from({ length: count }, () => pickAlive(storm)).filter((life) => life !== undefined);
  await Promise.all([...new Set(struck)].map(end));
  if (storm.random.chance(0.7)) await respawn(storm);
}

/** Past its lease, and then it goes on as if nothing had been. */
async function freeze(storm: Storm): Promise<void> {
  const life = pickAlive(storm);
  if (!life) return;
  life.frozen = true;
  life.child.kill("SIGSTOP");
  await storm.kit.advance(20_000);
  await pause(storm.random.between(50, 400));
  life.child.kill("SIGCONT");
  life.frozen = false;
}

async function rewind(storm: Storm): Promise<void> {
  const { kit, name, random } = storm;
  const { streams } = kit.platform;
  const { offsets } = await streams.find(name);
  const partition = random.integer(offsets.length);
  const { first, next } = offsets[partition]!;
  const [{ now }] = (await onStorm(
    kit,
    `select (date_part('epoch', tuntas.now()) * 1000)::float8 as now`,
  )) as [{ now: number }];
  const to = random.pick<RewindTo>([
    { to: "start" },
    { to: "end" },
    { instantMs: now - random.between(0, 60_000) },
    { partition, offset: random.between(first, next) },
  ]);
  await streams
    .rewind({ stream: name, consumer: random.pick(storm.consumers).name }, to, by)
    .catch(unlessGone);
}

/** Between the look and the act retention may have dropped what was kept. */
function unlessGone(cause: unknown): void {
  if ((cause as { code?: unknown }).code !== "TUNTAS_STREAM_OFFSET") throw cause;
}

const replay = async ({ kit, name, random, consumers }: Storm): Promise<unknown> =>
  kit.platform.streams.replay({ stream: name, consumer: random.pick(consumers).name }, by);

const mend = async ({ kit, random }: Storm): Promise<unknown> =>
  onStorm(kit, "update tuntas.storm_state set mended = $1", [random.chance(0.5)]);

/** Whoever was told may have died of it, or before: the next one declares it. */
async function isDeclared(storm: Storm, { name }: Served): Promise<void> {
  if (!storm.lives.some(isAlive)) await respawn(storm);
  const { consumers } = await storm.kit.platform.streams.find(storm.name);
  if (storm.failures.length === 0 && !consumers.some((each) => each.name === name))
    throw new Error(`${name} is not there`);
}

/** A successor is deployed beside the old one, from the start or from the end; later it takes its place, once both are so far. */
async function succeed(storm: Storm): Promise<void> {
  const { random, consumers } = storm;
  const [old, next] = consumers as [Served, Served?];
  if (!next) {
    const made: Served = {
      name: `${old.name.split("-")[0]}-${storm.made++}`,
      from: random.pick(["start", "end"] as const),
    };
    storm.consumers = [old, made];
    const { lives, partitions } = storm;
    await Promise.all(
      lives
        .filter(isAlive)
        .map(({ child }) => new Promise((told) => child.send({ ...made, partitions }, told))),
    );
    await persevere("a successor is declared", () => isDeclared(storm, made), settleMs);
    return;
  }
  await swap(storm, old, next);
}

async function swap(storm: Storm, old: Served, next: Served): Promise<boolean> {
  const { kit, name } = storm;
  const note = `insert into ${kit.schema}.storm_event (kind, consumer, key) values ('swapped', $1, $2)`;
  const swapped = await kit.platform.streams
    .swap({ stream: name, from: old.name, to: next.name }, by, ({ client }) =>
      client.query(note, [next.name, old.name]),
    )
    .then(
      () => true,
      (cause: unknown) => {
        const { code } = cause as { code?: unknown };
        if (
          code !== "TUNTAS_STREAM_BEHIND" &&
          code !== "TUNTAS_STREAM_MISSING" &&
          code !== "TUNTAS_DATABASE_BUSY"
        )
          throw cause;
        return false;
      },
    );
  if (!swapped) return false;
  storm.consumers = [next];
  storm.past.push(old);
  return true;
}

async function widen(storm: Storm): Promise<void> {
  const larger = partitionNumbers.filter((count) => count > storm.partitions);
  if (larger.length === 0 || !storm.random.chance(0.5)) return;
  storm.partitions = larger[0]!;
  await storm.kit.platform.streams.declare([declared(storm) as never], []);
}

/** Retention: the clock goes on, past leases too, and what is past its time is dropped. */
async function age({ kit, random }: Storm): Promise<void> {
  await kit.advance(random.between(2000, 40_000));
  await kit.platform.streams.sweep();
}

const acts: Readonly<
  Record<string, { readonly weight: number; readonly act: (storm: Storm) => Promise<unknown> }>
> = {
  append: { weight: 8, act: append },
  kill: { weight: 4, act: kill },
  freeze: { weight: 1, act: freeze },
  rewind: { weight: 2, act: rewind },
  replay: { weight: 2, act: replay },
  mend: { weight: 2, act: mend },
  succeed: { weight: 3, act: succeed },
  widen: { weight: 2, act: widen },
  age: { weight: 2, act: age },
};

const drawn = Object.entries(acts).flatMap(([name, { weight }]) =>
  Array.from({ length: weight }, () => name),
);

/** Nothing strikes any more: all is mended, replayed and read to its end. Answers what does not come to rest. */
async function settle(storm: Storm): Promise<string[]> {
  const { kit, name } = storm;
  await Promise.all(storm.lives.filter(isAlive).map(end));
  await respawn(storm, 0);
  await onStorm(kit, "update tuntas.storm_state set mended = true");
  const { streams } = kit.platform;
  const look = async () => {
    const { consumers } = await streams.find(name);
    for (const { name: consumer, lag, parked, partitions } of consumers) {
      if (!storm.consumers.some((each) => each.name === consumer))
        throw new Error(`${consumer} is there again`);
      if (lag > 0) throw new Error(`${consumer} has a lag of ${lag}: ${JSON.stringify(partitions)}`);
      if (parked === 0) continue;
      await streams.replay({ stream: name, consumer }, by);
      throw new Error(`${consumer} has ${parked} parked: ${JSON.stringify(await streams.parked(name))}`);
    }
  };
  return persevere("the storm comes to rest", look, settleMs).then(
    () => [],
    (cause: Error) => [`${cause.message}: ${String((cause.cause as Error)?.message ?? cause.cause)}`],
  );
}

export interface Weathered {
  readonly seed: number;
  readonly amiss: readonly string[];
  readonly did: Readonly<Record<string, number>>;
  readonly records: number;
  readonly effects: number;
}

export interface StormOptions {
  readonly kit: TestPlatform;
  readonly seed: number;
  /** How many acts. */
  readonly acts: number;
}

export async function weather({ kit, seed, acts: count }: StormOptions): Promise<Weathered> {
  const name = `storm-${seed}`;
  const storm: Storm = {
    kit,
    name,
    random: makeRandom(seed),
    lives: [],
    failures: [],
    did: new Map(),
    partitions: 2,
    consumers: [{ name: "books", from: "start" }],
    past: [],
    made: 0,
    appended: 0,
    numbers: new Map(),
  };
  await using _producer = await start(app({ of: declared(storm) }), { platform: kit.platform });
  try {
    storm.lives.push(...(await Promise.all(Array.from({ length: processes }, () => spawn(storm)))));
    for (let at = 0; at < count; at++) {
      const act = storm.random.pick(drawn);
      storm.did.set(act, (storm.did.get(act) ?? 0) + 1);
      await acts[act]!.act(storm);
      await pause(storm.random.between(0, 300));
    }
    const unsettled = await settle(storm);
    return await judged(storm, seed, unsettled);
  } finally {
    await Promise.all(storm.lives.filter(isAlive).map(end));
  }
}

async function judged(storm: Storm, seed: number, unsettled: readonly string[]): Promise<Weathered> {
  const { kit, name, appended, failures, did } = storm;
  const events = await readLedger(kit);
  const { amiss, readers } = judge(events, isBad);
  const { consumers } = await kit.platform.streams.find(name);
  for (const { name: consumer, partitions } of consumers)
    for (const { partition, nextOffset } of partitions) {
      const next = readers.get(consumer)?.next.get(partition);
      if (next !== nextOffset)
        amiss.push(`${consumer}: the checkpoint of ${partition} is at ${nextOffset}, its effects at ${next}`);
    }
  const effects = events.filter(({ kind }) => kind === "effect").length;
  return {
    seed,
    amiss: [...unsettled, ...failures, ...amiss],
    did: Object.fromEntries(did),
    records: appended,
    effects,
  };
}
