// The outbox against a model: rows are added, delivered, refused, lost to an outage, parked, put back and given up in any
// order. What reached the target must be what the model says: each key's rows in their order, none lost, none twice.
import fc from "fast-check";
import { expect, test } from "vitest";
import { makeBreaker } from "../../engine/outside/breaker.ts";
import { Unavailable } from "../../engine/unavailable.ts";
import { testPlatform, type TestPlatform } from "../../testing/index.ts";
import { add } from "../client.ts";
import { discardParked, outboxItems, retryParked } from "../operator.ts";
import { claimRows, lockTarget } from "../store.ts";
import { deliverOut } from "./deliver.ts";

type Fate = "taken" | "refused" | "down";

interface Row {
  readonly key: string;
  readonly payload: string;
  refusals: number;
  parked: boolean;
}

interface Model {
  rows: Row[];
  delivered: string[];
}

interface Real {
  readonly add: (key: string, payload: string) => Promise<void>;
  readonly round: (fates: ReadonlyMap<string, Fate>) => Promise<void>;
  readonly retry: () => Promise<number>;
  readonly discard: () => Promise<void>;
  readonly delivered: string[];
  readonly parked: () => Promise<string[]>;
}

type Command = fc.AsyncCommand<Model, Real>;
const refusalsMax = 2;
const keys = ["a", "b", "c"];
let made = 0;

const command = (name: string, run: (model: Model, real: Real) => Promise<void>): Command => ({
  check: () => true,
  toString: () => name,
  async run(model, real) {
    await run(model, real);
    expect(real.delivered).toHaveLength(model.delivered.length);
    const of = (key: string) => (payload: string) => payload.startsWith(key);
    for (const key of keys) expect(real.delivered.filter(of(key))).toEqual(model.delivered.filter(of(key)));
    expect(await real.parked()).toEqual(model.rows.filter((row) => row.parked).map((row) => row.payload));
  },
});

const adding = (key: string) =>
  command(`add ${key}`, async (model, real) => {
    const payload = `${key}${++made}`;
    await real.add(key, payload);
    model.rows.push({ key, payload, refusals: 0, parked: false });
  });

/** One look of a relay, with what becomes of each key's rows in it. */
const delivering = (fates: readonly Fate[]) =>
  command(`deliver ${fates.join(" ")}`, async (model, real) => {
    const fateOf = new Map(keys.map((key, index) => [key, fates[index]!]));
    await real.round(fateOf);
    for (const [key, fate] of fateOf) {
      const waiting = model.rows.filter((row) => row.key === key && !row.parked);
      if (fate === "taken") {
        model.delivered.push(...waiting.map((row) => row.payload));
        model.rows = model.rows.filter((row) => !waiting.includes(row));
      }
      const [first] = waiting;
      if (fate === "refused" && first && ++first.refusals >= refusalsMax) first.parked = true;
    }
  });

const retrying = command("put back", async (model, real) => {
  const parked = model.rows.filter((row) => row.parked);
  expect(await real.retry()).toBe(parked.length);
  for (const row of parked) Object.assign(row, { parked: false, refusals: 0 });
});

const discarding = command("give up", async (model, real) => {
  await real.discard();
  const first = model.rows.find((row) => row.parked);
  model.rows = model.rows.filter((row) => row !== first);
});

function realOf(
  { platform: { database }, advance }: TestPlatform,
  target: { kind: string; name: string },
): Real {
  const delivered: string[] = [];
  const act = { by: "ana", reason: "by the model" };
  return {
    delivered,
    add: async (key, payload) => void (await database.transaction((tx) => add(tx, { target, key, payload }))),
    async round(fates) {
      await advance(5000); // whatever waits for another try is due
      const rows = await database.transaction(async (tx) => {
        await lockTarget(tx, target);
        return claimRows(tx, target, { owner: "0", rowsMax: 100, leaseMs: 60_000 });
      });
      const outward = {
        database,
        target,
        breaker: makeBreaker({ failures: 1000, trialMs: 1, trialMaxMs: 1 }),
        policy: { refusalsMax, backoff: { baseMs: 1, maxMs: 1 } },
        timeoutMs: 5000,
        concurrency: 3,
        ending: new AbortController().signal,
        async deliver({ key, payload }: { key: string | null; payload: string }) {
          const fate = fates.get(key!);
          if (fate === "down") throw new Unavailable("down");
          if (fate === "refused") throw new Error("no");
          delivered.push(payload);
        },
      };
      await deliverOut(outward, rows, 60_000);
    },
    retry: () => retryParked(database, { target }, act),
    async discard() {
      const [first] = await outboxItems(database, { target, state: "parked" });
      if (first) await discardParked(database, first.id, act);
    },
    parked: async () => (await outboxItems(database, { target, state: "parked" })).map((row) => row.payload),
  };
}

test("G-10 G-11 outbox-03 property: each key's rows arrive in their order and once, whatever is refused, down, parked or put back", async () => {
  await using kit = await testPlatform();
  const fate = fc.constantFrom("taken", "refused", "down") as fc.Arbitrary<Fate>;
  const commands = fc.commands(
    [
      fc.constantFrom(...keys).map(adding),
      fc.tuple(fate, fate, fate).map(delivering),
      fc.constant(retrying),
      fc.constant(discarding),
    ],
    { maxCommands: 20 },
  );
  let targets = 0;
  await fc.assert(
    fc.asyncProperty(commands, async (list) => {
      const target = { kind: "model", name: `t${++targets}` };
      await fc.asyncModelRun(() => ({ model: { rows: [], delivered: [] }, real: realOf(kit, target) }), list);
    }),
    { numRuns: 30 },
  );
}, 180_000);
