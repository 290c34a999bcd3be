// Ten conditions: each is broken by itself, and then on a living database.
import { expect, test } from "vitest";
import { z } from "zod";
import { app, start } from "../../app.ts";
import { queue, worker } from "../../queue/declaration.ts";
import { ada, openStage, web } from "../../service/stage.fixture.ts";
import { shippedAlarms } from "../../alarm/shipped.ts";
import type { AlarmOptions } from "../../alarm/contract.ts";
import type { Operation } from "../../operation/contract.ts";
import type { QueueSurvey } from "../../queue/client/index.ts";
import { defaultScope } from "../../queue/contract.ts";
import { statement } from "../../pg/database.ts";
import { revisionOf } from "../../service/index.ts";
import type { LiveService } from "../contract.ts";
import { handlingOf } from "./handling.ts";
import { limitsOf } from "./state.ts";
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
  pending: null,
  ...more,
});

const stage = openStage();
const factsOf = (more: Partial<HealthFacts> = {}): HealthFacts => ({
  services: [door()],
  queues: [work()],
  limits: { oldestMaxMs: 300_000, waitingMax: 100 },
  calls: { all: 100, failed: 1, unknown: 0 },
  connections: { total: 50, available: 97, fits: true },
  ...more,
});

const badOf = ({ conditions }: Health): string[] =>
  conditions.filter(({ verdict }) => verdict === "bad").map(({ id }) => id);
const conditionOf = ({ conditions }: Health, id: string) => conditions.find((each) => each.id === id)!;
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

const survey = { name: "work", deadLetterName: "work-dlq", dead: 2, quarantined: 1 } as QueueSurvey;
const replay = (more: object = {}) =>
  ({
    id: "7",
    kind: "replay",
    state: "running",
    selection: { filter: { queue: "work" } },
    selected: 5,
    done: 1,
    refused: 1,
    skipped: 0,
    ...more,
  }) as unknown as Operation;

test("dead letters are handled by what runs over all of them; what stands still, or names no queue, is only told", () => {
  const running = { handledBy: "operation 7 (replay) is running", pending: null };
  expect(handlingOf(survey, [replay()])).toEqual(running);
  expect(handlingOf(survey, [replay({ selection: { from: "work-dlq" } })])).toEqual(running);
  const told: readonly (readonly [more: object, pending: string | null])[] = [
    [{ done: 2 }, "operation 7 (replay) is running for 2 of them"],
    [{ state: "paused" }, "operation 7 (replay) is paused"],
    [{ state: "awaiting_approval" }, "operation 7 (replay) is awaiting approval"],
    [{ selection: { filter: { code: "X" } } }, "operation 7 (replay) is running, and names no queue"],
    [{ selection: { filter: { queue: "other" } } }, null],
    [{ selection: { filter: { queue: "work" }, scope: { account: "111122223333", region: "x" } } }, null],
  ];
  for (const [more, pending] of told)
    expect(handlingOf(survey, [replay(more)])).toEqual({ handledBy: null, pending });
  const dead = healthOf(factsOf({ queues: [work({ dead: 3, pending: told[1]![1] })] }));
  expect(conditionOf(dead, "dead-letters")).toMatchObject({
    verdict: "bad",
    found: `work: 3, ${told[1]![1]}`,
  });
});

test("growth that nobody saw is unknown beside what is good, and bounds are those of the alarms", () => {
  const throughput = (...queues: QueueCourse[]) => conditionOf(healthOf(factsOf({ queues })), "throughput");
  expect(throughput(work(), work({ name: "new", grewBy: null }))).toMatchObject({
    verdict: "unknown",
    found: expect.stringContaining("1 further one"),
  });
  expect(throughput(work({ grewBy: null })).verdict).toBe("unknown");
  expect(throughput(work({ grewBy: 500 }), work({ name: "new", grewBy: null })).verdict).toBe("bad");
  const [oldest, rising] = ["oldest-message", "backlog-rising"].map(
    (name) => shippedAlarms.find((each) => each.name === name)!.options,
  ) as [AlarmOptions, AlarmOptions];
  expect(limitsOf(oldest, rising)).toEqual({ oldestMaxMs: 300_000, waitingMax: 100 });
  const own = { ...rising, and: { ...rising.and!, when: { atLeast: 7 } } };
  expect(limitsOf({ ...oldest, when: { above: 60 } }, own)).toEqual({ oldestMaxMs: 60_000, waitingMax: 7 });
  const other = { ...oldest, metric: { name: "tuntas_outbox_rows" }, when: { above: 1 } };
  expect(limitsOf(other, { ...rising, and: undefined } as never)).toEqual({
    oldestMaxMs: 300_000,
    waitingMax: 100,
  });
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

const message = z.object({ id: z.string() });
const deadLetter = { after: 1, owner: "tests", runbook: "none", retention: "14d" } as const;

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

test("queues beyond the first page are judged as well", async () => {
  const { platform } = stage.kit;
  const { database } = platform;
  const { account, region } = defaultScope;
  const insert = `insert into tuntas.queue (account, region, name, fifo, created_at, modified_at)
    select $1, $2, 'page-' || n, false, tuntas.now(), tuntas.now() from generate_series(1, 501) n`;
  await database.run(statement(insert), [account, region]);
  const all = await platform.queues.observer.surveyAll(defaultScope);
  await database.run(statement("delete from tuntas.queue where name like 'page-%'"));
  expect(all.filter(({ name }) => name.startsWith("page-"))).toHaveLength(501);
});
