// Ten conditions: each is broken by itself, and then on a living database.
import { expect, test } from "vitest";
import { z } from "zod";
import { app, start } from "../../app.ts";
import { queue, worker } from "../../queue/declaration.ts";
import { ada, openStage, web } from "../../service/stage.fixture.ts";
import { revisionOf } from "../../service/index.ts";
import type { LiveService } from "../contract.ts";
import { healthOf, readHealth, type Health, type HealthFacts, type QueueCourse } from "./index.ts";

type Report = LiveService["report"];

const running = (more: object) => ({ state: "running", memoryBytes: 2 ** 28, cpuUnits: 100, ...more });

/** A service of two instances in its second revision, with all in order but what is given. */
function door(more: Partial<Report> = {}, { correlated = true, version = "abc" } = {}): LiveService {
  const report = {
    name: "door",
    host: "one",
    active: true,
    controlled: true,
    desired: 2,
    running: 2,
    healthy: 2,
    revision: 2,
    deployment: "completed",
    rollbackOf: null,
    definition: revisionOf(web("door", { count: 2, version })),
    deployments: [
      { revision: 2, state: "completed" },
      { revision: 1, state: "completed" },
    ],
    instances: [running({}), running({})],
    ...more,
  } as unknown as Report;
  return { report, probed: { url: "http://127.0.0.1:1", status: 200, correlated, measured: true } };
}

const work = (more: Partial<QueueCourse> = {}): QueueCourse => ({
  name: "work",
  paused: false,
  oldestAgeMs: 1000,
  came: 1000,
  grewBy: 0,
  dead: 0,
  handledBy: null,
  ...more,
});

const factsOf = (more: Partial<HealthFacts> = {}): HealthFacts => ({
  services: [door()],
  queues: [work()],
  oldestMaxMs: 300_000,
  calls: { all: 100, failed: 1, unknown: 0 },
  connections: { total: 50, available: 97, fits: true },
  ...more,
});

const badOf = ({ conditions }: Health): string[] =>
  conditions.filter(({ verdict }) => verdict === "bad").map(({ id }) => id);
const badWith = (more: Partial<HealthFacts>): string[] => badOf(healthOf(factsOf(more)));

const withRollback = (circuitBreaker: "off" | { readonly rollback: boolean }) => {
  const { definition } = door().report;
  const rollout = { ...definition.rollout, circuitBreaker: circuitBreaker === "off" ? null : circuitBreaker };
  return door({ definition: { ...definition, rollout } });
};

test("L-18: with all in order ten lines are good; each that is broken is bad alone, and says what to do", () => {
  const health = healthOf(factsOf());
  expect(health.conditions.map(({ verdict }) => verdict)).toEqual(Array.from({ length: 10 }, () => "good"));
  const broken: Record<string, Partial<HealthFacts>> = {
    targets: { services: [door({ healthy: 1 })] },
    count: { services: [door({ running: 1 })] },
    revision: { services: [door({ rollbackOf: "7" })] },
    age: { queues: [work({ oldestAgeMs: 301_000 })] },
    "dead-letters": { queues: [work({ dead: 2 })] },
    throughput: { queues: [work({ grewBy: 200 })] },
    headroom: { services: [door({ instances: [running({ memoryBytes: 500 * 2 ** 20 })] as never })] },
    downstream: { calls: { all: 100, failed: 6, unknown: 0 } },
    correlation: { services: [door({}, { correlated: false })] },
    rollback: { services: [withRollback("off")] },
  };
  expect(Object.keys(broken)).toEqual(health.conditions.map(({ id }) => id));
  for (const [id, more] of Object.entries(broken)) {
    const { healthy, conditions } = healthOf(factsOf(more));
    expect([id, healthy, conditions.filter(({ verdict }) => verdict === "bad")]).toEqual([
      id,
      false,
      [
        expect.objectContaining({
          id,
          found: expect.stringMatching(/./),
          remedy: expect.stringMatching(/./),
        }),
      ],
    ]);
  }
});

test("the other ways in which they are broken", () => {
  expect(badWith({ services: [door({ controlled: false })] })).toEqual(["targets"]);
  expect(badWith({ services: [door({ deployment: "failed" })] })).toEqual(["revision"]);
  expect(badWith({ services: [door({ instances: [running({ cpuUnits: 900 })] as never })] })).toEqual([
    "headroom",
  ]);
  expect(badWith({ calls: { all: 0, failed: 0, unknown: 1 } })).toEqual(["downstream"]);
  expect(badWith({ connections: { total: 98, available: 97, fits: false } })).toEqual(["downstream"]);
  expect(badWith({ services: [door({ deployments: [] })] })).toEqual(["rollback"]);
});

test("what is on its way, handled or small is not bad; what there is none of is unknown", () => {
  const rolling = door({ deployment: "in_progress", running: 4 });
  expect(badWith({ services: [rolling] })).toEqual([]);
  expect(badWith({ queues: [work({ dead: 2, handledBy: "operation 3 (replay) is running" })] })).toEqual([]);
  expect(badWith({ queues: [work({ came: 0, grewBy: 90 })] })).toEqual([]);
  expect(badWith({ services: [door({ active: true, desired: 0, running: 0, healthy: 0 })] })).toEqual([]);
  const bare = healthOf(factsOf({ services: [], queues: [], connections: undefined }));
  expect([bare.healthy, bare.conditions.filter(({ verdict }) => verdict === "unknown").length]).toEqual([
    true,
    9,
  ]);
});

const stage = openStage();
const message = z.object({ id: z.string() });
const deadLetter = { after: 1, owner: "tests", runbook: "none", retention: "14d" } as const;

const conditionOf = ({ conditions }: Health, id: string) => conditions.find((each) => each.id === id)!;

test("L-18: a service and a dead letter on a living database", async () => {
  const { platform } = stage.kit;
  const of = queue("health-work", { message, deadLetter });
  const failing = worker(of, {
    idempotencyKey: "none",
    timeout: "20s",
    handle() {
      throw new Error("it failed");
    },
  });
  const host = stage.control();
  await stage.deploy(web("door", { count: 2, version: "1" }), host);
  await using _ = await start(app({ of, failing }), { platform });
  const before = await readHealth(platform);
  expect(conditionOf(before, "targets")).toMatchObject({
    verdict: "good",
    found: `door: 2 of 2 healthy on ${host}`,
  });
  expect(conditionOf(before, "rollback")).toMatchObject({ verdict: "unknown" });
  expect(badOf(before)).toEqual(["correlation"]);
  await of.send({ id: "1" });
  await expect
    .poll(async () => conditionOf(await readHealth(platform), "dead-letters").found)
    .toBe("health-work: 1");

  const selection = { filter: { queue: "health-work" } };
  const { operation } = await platform.operations.start({
    kind: "reject",
    selection,
    actor: "ada",
    reason: "tried",
  });
  await platform.operations.settled(operation.id);
  expect(conditionOf(await readHealth(platform), "dead-letters")).toMatchObject({
    verdict: "good",
    found: "none",
  });

  await stage.deploy(web("door", { count: 2, version: "2" }), host);
  expect(conditionOf(await readHealth(platform), "rollback")).toMatchObject({
    verdict: "good",
    found: "tuntas service rollback door",
  });
  await stage.controllers.splice(0)[0]!.close();
  expect(conditionOf(await readHealth(platform), "targets").found).toContain("which runs no services now");
  await platform.services.stop("door", ada);
}, 240_000);
