// The controller's decisions, in worlds of random luck: what must hold at every step of every roll-out.
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Health } from "./contract.ts";
import {
  breakerThreshold,
  decide,
  newHealth,
  nextHealth,
  restartDelayMs,
  roomOf,
  stopStep,
  type LiveInstance,
  type ServiceView,
} from "./state.ts";

const rollout = {
  minimumHealthyPercent: 100,
  maximumPercent: 200,
  circuitBreaker: { rollback: true },
  deregistrationDelayMs: 0,
};

const instance = (id: number, revision: number, health: Health = "healthy"): LiveInstance => ({
  id: String(id),
  revision,
  state: "running",
  health,
});

interface Change extends Partial<Omit<ServiceView, "deployment">> {
  readonly deployment?: Partial<ServiceView["deployment"]>;
}

const view = (change: Change): ServiceView => ({
  nowMs: 1_000_000,
  desired: 2,
  rollout,
  lastCompleted: 1,
  instances: [],
  ...change,
  deployment: {
    id: "9",
    revision: 2,
    state: "in_progress",
    failures: 0,
    failedAtMs: null,
    rollbackOf: null,
    startedAtMs: 900_000,
    steadyAtMs: null,
    ...change.deployment,
  },
});

test("D-16: the room of a roll-out is ECS': at most rounded down, at least rounded up", () => {
  const room = (least: number, most: number, desired: number) =>
    Object.values(roomOf({ minimumHealthyPercent: least, maximumPercent: most }, desired));
  expect(room(100, 200, 4)).toEqual([8, 4]);
  expect(room(75, 100, 4)).toEqual([4, 3]);
  expect(room(50, 125, 3)).toEqual([3, 2]);
});

test("D-14: the circuit breaker's threshold is half of the desired count, from 3 to 200", () => {
  expect([1, 6, 7, 25, 400, 1000].map(breakerThreshold)).toEqual([3, 3, 4, 13, 200, 200]);
});

test("D-14: at the threshold the deployment fails, and goes back to what was completed last", () => {
  const at = (
    failures: number,
    change: Partial<ServiceView["deployment"]> = {},
    lastCompleted: number | null = 1,
  ) =>
    decide(
      view({
        lastCompleted,
        deployment: { failures, failedAtMs: 0, ...change },
        instances: [instance(1, 1), instance(2, 1)],
      }),
    );
  expect(at(2).map((action) => action.do)).toEqual(["start"]);
  const fails = (rollbackTo: number | null) => [
    { do: "fail", cause: { failures: 3, threshold: 3 }, rollbackTo },
  ];
  expect(at(3)).toEqual(fails(1));
  expect(at(3, {}, null)).toEqual(fails(null));
  expect(at(3, { rollbackOf: "8" })).toEqual(fails(null));
  expect(at(3, { revision: 1 })).toEqual(fails(null));
  expect(at(9, { state: "failed" })).toEqual([]);
});

test("D-15: an alarm fails a deployment at once; all healthy, it is over when the alarms have been quiet for long enough", () => {
  const fired = { alarm: "errors: storefront", reason: "5 above 1" };
  const alarms = { names: ["errors"], rollback: true, bakeMs: null };
  const tied = (change: Change, rollback = true) =>
    decide(view({ rollout: { ...rollout, alarms: { ...alarms, rollback } }, ...change }));
  const underWay = { instances: [instance(1, 1), instance(2, 2)] };
  const fails = (rollbackTo: number | null) => [{ do: "fail", cause: fired, rollbackTo }];
  expect(tied({ ...underWay, alarms: { fired, bakeMs: 60_000 } })).toEqual(fails(1));
  expect(tied({ ...underWay, alarms: { fired, bakeMs: 60_000 } }, false)).toEqual(fails(null));
  const healthy = { instances: [instance(3, 2), instance(4, 2)] };
  const quiet = { fired: undefined, bakeMs: 60_000 };
  const since = (steadyAtMs: number | null) =>
    tied({ ...healthy, alarms: quiet, deployment: { steadyAtMs } });
  expect(since(null)).toEqual([{ do: "bake", ms: 60_000 }]);
  expect(since(999_999)).toEqual([]);
  expect(since(940_000)).toEqual([{ do: "complete" }]);
  expect(tied({ ...healthy, alarms: { ...quiet, bakeMs: 0 } })).toEqual([{ do: "complete" }]);
  expect(tied({ ...healthy, alarms: { ...quiet, fired }, deployment: { steadyAtMs: 999_999 } })).toEqual(
    fails(1),
  );
  expect(tied({ ...healthy, alarms: { ...quiet, fired }, deployment: { state: "completed" } })).toEqual([]);
});

test("what fails again and again is started again later and later, up to 27 minutes", () => {
  expect([0, 1, 2, 3, 4, 60].map(restartDelayMs)).toEqual([0, 0, 1000, 2000, 4000, 1_620_000]);
  const waiting = view({ deployment: { failures: 2, failedAtMs: 999_500 } });
  expect(decide(waiting)).toEqual([]);
  expect(decide({ ...waiting, nowMs: 1_000_500 })).toEqual([{ do: "start", count: 2 }]);
});

test("D-28: scaling in stops those that serve nobody first, then the youngest", () => {
  const instances = [instance(1, 2), instance(2, 2, "unknown"), instance(10, 2), instance(9, 2)];
  const [stop] = decide(view({ desired: 2, instances, deployment: { state: "completed" } }));
  expect(stop).toEqual({ do: "stop", ids: ["2", "10"], reason: "scale_in" });
});

test("an unhealthy instance is stopped and replaced", () => {
  const instances = [instance(1, 2), instance(2, 2, "unhealthy")];
  expect(decide(view({ instances, deployment: { state: "completed" } }))).toEqual([
    { do: "stop", ids: ["2"], reason: "unhealthy" },
    { do: "start", count: 1 },
  ]);
});

interface World {
  readonly desired: number;
  readonly least: number;
  readonly most: number;
  /** What happens next, as shares of one. */
  readonly luck: readonly number[];
}

const worlds: fc.Arbitrary<World> = fc
  .record({
    desired: fc.integer({ min: 1, max: 12 }),
    least: fc.integer({ min: 0, max: 100 }),
    most: fc.integer({ min: 100, max: 200 }),
    luck: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 50, maxLength: 50 }),
  })
  .filter(({ desired, least, most }) => {
    const room = roomOf({ minimumHealthyPercent: least, maximumPercent: most }, desired);
    return room.most > desired || room.least < desired;
  });

test("U-09: whatever the luck, no more run than may, enough stay healthy, one batch follows another, and it ends", () => {
  fc.assert(
    fc.property(worlds, ({ desired, least, most, luck }) => {
      const percents = { ...rollout, minimumHealthyPercent: least, maximumPercent: most };
      const room = roomOf(percents, desired);
      let instances = Array.from({ length: desired }, (_, index) => instance(index + 1, 1));
      let nextId = desired + 1;
      for (let step = 0; step < 500; step++) {
        const actions = decide(view({ desired, rollout: percents, instances }));
        if (actions.some((action) => action.do === "complete")) {
          expect(instances.map(({ revision, health }) => [revision, health])).toEqual(
            Array.from({ length: desired }, () => [2, "healthy"]),
          );
          return;
        }
        for (const action of actions) {
          if (action.do === "start") {
            expect(
              instances.filter(({ revision }) => revision === 2).every(({ health }) => health === "healthy"),
            ).toBe(true);
            for (let n = 0; n < action.count; n++) instances.push(instance(nextId++, 2, "unknown"));
          } else if (action.do === "stop") {
            const stopped = action.ids;
            instances = instances.filter(({ id }) => !stopped.includes(id));
          }
        }
        expect(instances.length).toBeLessThanOrEqual(room.most);
        expect(instances.filter(({ health }) => health === "healthy").length).toBeGreaterThanOrEqual(
          Math.min(room.least, desired),
        );
        const lucky = (luck[step % luck.length] ?? 0) > 0.3;
        instances = instances.map((each) =>
          each.health === "unknown" && lucky ? { ...each, health: "healthy" } : each,
        );
        if (step > 200) instances = instances.map((each) => ({ ...each, health: "healthy" }));
      }
      throw new Error("it never ended");
    }),
  );
});

test("A-06: one success makes healthy; failures count an interval apart, past the grace, and only in a row", () => {
  const times = { intervalMs: 1000, timeoutMs: 500, retries: 2, graceMs: 5000 };
  const fail = (state: ReturnType<typeof newHealth>, atMs: number, ageMs = 10_000) =>
    nextHealth(state, { ok: false, atMs, ageMs }, times);
  expect(fail(newHealth(), 0, 4000)).toEqual(newHealth());
  const once = fail(newHealth("healthy"), 0);
  expect(once).toMatchObject({ health: "healthy", failures: 1 });
  expect(fail(once, 500)).toEqual(once);
  expect(fail(once, 1000)).toMatchObject({ health: "unhealthy", failures: 2 });
  expect(nextHealth(once, { ok: true, atMs: 900, ageMs: 1 }, times)).toEqual(newHealth("healthy"));
});

test("W-32: SIGTERM comes after the deregistration delay, SIGKILL after the stop timeout, each once", () => {
  const times = { deregistrationDelayMs: 100, stopTimeoutMs: 1000 };
  const at = { stoppingAtMs: 0, terminatedAtMs: null, killedAtMs: null };
  expect(stopStep(at, 99, times)).toBe("wait");
  expect(stopStep(at, 100, times)).toBe("terminate");
  expect(stopStep({ ...at, terminatedAtMs: 100 }, 1099, times)).toBe("wait");
  expect(stopStep({ ...at, terminatedAtMs: 100 }, 1100, times)).toBe("kill");
  expect(stopStep({ ...at, terminatedAtMs: 100, killedAtMs: 1100 }, 9999, times)).toBe("wait");
});

test("X-14: whoever holds a message is not given up for scaling in, and makes way for a new revision as ever", () => {
  const working = (id: number) => ({ ...instance(id, 2), working: true });
  const instances = [working(1), instance(2, 2), working(3)];
  const completed = { ...view({}).deployment, state: "completed" as const };
  const at = (desired: number) => decide(view({ desired, instances, deployment: completed }));
  expect(at(2)).toEqual([{ do: "stop", ids: ["2"], reason: "scale_in" }]);
  expect(at(1)).toEqual([{ do: "stop", ids: ["2"], reason: "scale_in" }]);
  const sick = [{ ...working(1), health: "unhealthy" as const }];
  expect(decide(view({ desired: 0, instances: sick, deployment: completed }))).toEqual([
    { do: "stop", ids: ["1"], reason: "unhealthy" },
  ]);
});
