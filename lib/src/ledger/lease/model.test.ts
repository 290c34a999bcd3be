// Leases against a model: claims, heartbeats, completions and releases of several owners in any order, with the clock
// moved in between. Whoever the model says holds the job is the only one who may do anything to it.
import fc from "fast-check";
import { expect, test } from "vitest";
import { testPlatform } from "../../testing/index.ts";
import { claimLease, completeLease, heartbeatLease, releaseLease, type Lease } from "./lease.ts";

const leaseMs = 120_000;

interface Model {
  holder: { owner: string; fence: string; untilMs: number } | undefined;
  result: string | undefined;
  nowMs: number;
}

interface Real {
  readonly claim: (owner: string) => ReturnType<typeof claimLease>;
  readonly act: (act: "heartbeat" | "complete" | "release", lease: Lease) => Promise<boolean>;
  readonly advance: (ms: number) => Promise<void>;
  /** What each owner believes to hold. */
  readonly held: Map<string, Lease>;
}

type Command = fc.AsyncCommand<Model, Real>;

const isHeld = ({ holder, nowMs }: Model): boolean => holder !== undefined && holder.untilMs > nowMs;

class Claim implements Command {
  readonly owner: string;
  constructor(owner: string) {
    this.owner = owner;
  }
  check = () => true;
  toString = () => `${this.owner} claims`;
  async run(model: Model, real: Real): Promise<void> {
    const answer = await real.claim(this.owner);
    if (model.result !== undefined)
      return expect(answer).toEqual({ status: "completed", result: model.result });
    if (isHeld(model)) return expect(answer).toMatchObject({ status: "held", owner: model.holder!.owner });
    expect(answer).toMatchObject({ status: "claimed", takenOver: model.holder !== undefined });
    const { lease } = answer as { lease: Lease };
    if (model.holder) expect(BigInt(lease.fence)).toBeGreaterThan(BigInt(model.holder.fence));
    real.held.set(this.owner, lease);
    model.holder = { owner: this.owner, fence: lease.fence, untilMs: model.nowMs + leaseMs };
  }
}

class Act implements Command {
  readonly owner: string;
  readonly act: "heartbeat" | "complete" | "release";
  constructor(owner: string, act: Act["act"]) {
    this.owner = owner;
    this.act = act;
  }
  check = () => true;
  toString = () => `${this.owner} ${this.act}s`;
  async run(model: Model, real: Real): Promise<void> {
    const lease = real.held.get(this.owner);
    if (!lease) return;
    const isMine = isHeld(model) && model.holder!.fence === lease.fence && model.result === undefined;
    const went = await real.act(this.act, lease);
    if (this.act !== "release") expect(went).toBe(isMine);
    if (!isMine) return;
    if (this.act === "heartbeat") model.holder!.untilMs = model.nowMs + leaseMs;
    if (this.act === "complete") model.result = this.owner;
    if (this.act === "release") model.holder = undefined;
  }
}

class Advance implements Command {
  readonly ms: number;
  constructor(ms: number) {
    this.ms = ms;
  }
  check = () => true;
  toString = () => `${this.ms / 1000} s pass`;
  async run(model: Model, real: Real): Promise<void> {
    await real.advance(this.ms);
    model.nowMs += this.ms;
  }
}

test("G-27 G-28 property: whatever owners do in whatever order, only the one that the model names may", async () => {
  await using kit = await testPlatform();
  const { database } = kit.platform;
  const owner = fc.constantFrom("ana", "bob", "eve");
  const acts = fc.constantFrom("heartbeat", "complete", "release") as fc.Arbitrary<Act["act"]>;
  // Far from the lease's end on either side: the test's own time must not decide.
  const commands = fc.commands(
    [
      owner.map((name) => new Claim(name)),
      fc.tuple(owner, acts).map(([name, act]) => new Act(name, act)),
      fc.constantFrom(50_000, 130_000).map((ms) => new Advance(ms)),
    ],
    { maxCommands: 25 },
  );
  let jobs = 0;
  await fc.assert(
    fc.asyncProperty(commands, async (list) => {
      const name = `job-${++jobs}`;
      const real: Real = {
        held: new Map(),
        claim: (by) => claimLease(database, { name, owner: by, lease: "2m" }),
        act: (act, lease) => {
          const work = {
            heartbeat: () => heartbeatLease(database, lease),
            complete: () => completeLease(database, lease, lease.owner),
            release: () => releaseLease(database, lease),
          };
          return work[act]().then(
            () => true,
            (cause: { code?: string }) => {
              expect(cause.code).toBe("TUNTAS_LEASE_LOST");
              return false;
            },
          );
        },
        advance: kit.advance,
      };
      await fc.asyncModelRun(
        () => ({ model: { holder: undefined, result: undefined, nowMs: 0 }, real }),
        list,
      );
    }),
    { numRuns: 40 },
  );
}, 180_000);
