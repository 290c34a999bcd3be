// The side effect's state machine against a model that is obviously right: a set of calls that took place at the
// provider, and what the ledger may therefore say.
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { testPlatform, type TestPlatform } from "../../testing/index.ts";
import { refusal } from "./contract.ts";
import { effect } from "./effect.ts";
import { provider } from "./provider.ts";
import { reconcileEffects } from "./reconcile.ts";

let kit: TestPlatform;
beforeAll(async () => {
  kit = await testPlatform();
  await kit.platform.ledger.close();
});
afterAll(() => kit[Symbol.asyncDispose]());

/** How a call goes: whether it takes place at the provider, and whether its answer comes back. */
type Way = "answered" | "refused" | "never arrived" | "answer lost" | "lost on the way";
const ways: readonly Way[] = ["answered", "refused", "never arrived", "answer lost", "lost on the way"];

type Standing = "none" | "succeeded" | "refused" | "failed" | "unknown";

interface Model {
  standing: Standing;
  /** How often it took place at the provider. */
  took: number;
  /** Whether the request may still be on its way, so that "absent" is not believed. */
  fresh: boolean;
}

interface Real {
  readonly key: string;
  took: number;
}

const declare = (real: Real) =>
  provider({
    name: "model",
    timeout: "40ms",
    arrivesWithin: "1h",
    breakerFailures: 1_000_000,
    reconcile: {
      act: async () => (real.took > 0 ? { state: "succeeded", response: "done" } : { state: "absent" }),
    },
  });

async function go(real: Real, way: Way): Promise<string> {
  if (way === "never arrived") throw Object.assign(new Error("down"), { code: "ECONNREFUSED" });
  if (way === "refused") throw refusal("NO", "no");
  if (way !== "lost on the way") real.took++;
  if (way === "answered") return "done";
  return new Promise(() => undefined);
}

const after: Record<Way, { standing: Standing; answer: string }> = {
  answered: { standing: "succeeded", answer: "created" },
  refused: { standing: "refused", answer: "TUNTAS_EFFECT_REFUSED" },
  "never arrived": { standing: "failed", answer: "TUNTAS_EFFECT_FAILED" },
  "answer lost": { standing: "unknown", answer: "TUNTAS_EFFECT_UNKNOWN" },
  "lost on the way": { standing: "unknown", answer: "TUNTAS_EFFECT_UNKNOWN" },
};

/** Asking the provider settles what is unknown, unless it says "absent" too early. */
function ask(model: Model): void {
  if (model.standing !== "unknown") return;
  if (model.took > 0) model.standing = "succeeded";
  else if (!model.fresh) model.standing = "failed";
}

class Call implements fc.AsyncCommand<Model, Real> {
  readonly way: Way;
  constructor(way: Way) {
    this.way = way;
  }
  check = () => true;
  toString = () => `call(${this.way})`;
  expected(model: Model): string {
    ask(model);
    if (model.standing === "succeeded") return "duplicate";
    if (model.standing === "refused") return "TUNTAS_EFFECT_REFUSED";
    if (model.standing === "unknown") return "TUNTAS_EFFECT_UNKNOWN";
    const { standing, answer } = after[this.way];
    if (this.way === "answered" || this.way === "answer lost") model.took++;
    Object.assign(model, { standing, fresh: true });
    return answer;
  }
  async run(model: Model, real: Real) {
    const came = await effect(
      { database: kit.platform.database },
      { provider: declare(real), operation: "act", key: real.key, request: {} },
      () => go(real, this.way),
    ).then(
      (answer) => answer.status,
      (cause: { code: string }) => cause.code,
    );
    expect(came).toBe(this.expected(model));
    expect(real.took).toBe(model.took);
    expect(real.took).toBeLessThanOrEqual(1);
  }
}

class Wait implements fc.AsyncCommand<Model, Real> {
  check = () => true;
  toString = () => "wait";
  async run(model: Model) {
    await kit.advance(3_600_001);
    model.fresh = false;
  }
}

class Sweep implements fc.AsyncCommand<Model, Real> {
  check = () => true;
  toString = () => "sweep";
  async run(model: Model, real: Real) {
    // Rows of earlier runs are asked about as well; this provider answers for this one's key only.
    const declared = declare(real);
    const own = provider({
      ...declared.options,
      reconcile: {
        act: async (row, signal) =>
          row.key === real.key
            ? (declared.options.reconcile["act"] as (r: typeof row, s: AbortSignal) => Promise<never>)(
                row,
                signal,
              )
            : { state: "unknown" },
      },
    });
    await reconcileEffects(kit.platform.database, [own], (cause) => expect.unreachable(String(cause)));
    ask(model);
  }
}

test("G-16 G-17 G-18 property: in whatever order calls go well, badly or silent, the provider acts at most once", async () => {
  let run = 0;
  const commands = [
    fc.constantFrom(...ways).map((way) => new Call(way)),
    fc.constant(new Wait()),
    fc.constant(new Sweep()),
  ];
  await fc.assert(
    fc.asyncProperty(fc.commands(commands, { maxCommands: 8 }), async (plan) => {
      const setup = () => ({
        model: { standing: "none", took: 0, fresh: false } as Model,
        real: { key: `k${run++}`, took: 0 },
      });
      await fc.asyncModelRun(setup, plan);
    }),
    { numRuns: 40 },
  );
});
