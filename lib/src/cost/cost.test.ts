import { channel } from "node:diagnostics_channel";
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { alarm, app, queue, start, worker } from "../index.ts";
import { gather } from "../check/index.ts";
import { makeLog } from "../engine/log.ts";
import { metricEntries } from "../measure/catalogue.ts";
import { testPlatform } from "../testing/index.ts";
import { task, workflow } from "../workflow/declaration.ts";
import type { CostedMachine, CostedService, CostFacts, Driver, Estimate, Measured } from "./contract.ts";
import {
  checkFigures,
  checkPrices,
  comparePolling,
  estimate,
  examplePrices,
  neededMetrics,
  readCostFacts,
  standingDrivers,
  withoutMetric,
  workDrivers,
} from "./index.ts";

const nothing: Measured = {
  hours: 0,
  queues: new Map(),
  services: new Map(),
  workflows: new Map(),
  requests: 0,
  logBytes: new Map(),
  series: new Map(),
  calls: 0,
  starts: 0,
};

const orders: CostedService = {
  name: "orders",
  kind: "rest",
  size: { cpu: 1024, memoryMiB: 2048 },
  least: 2,
  queue: null,
};
const mails: CostedService = {
  name: "mails",
  kind: "consumer-group",
  size: { cpu: 1024, memoryMiB: 2048 },
  least: 1,
  queue: "mail",
};
const poll: CostedMachine = {
  name: "Export",
  definition: {
    StartAt: "Begin",
    States: {
      Begin: { Type: "Task", Resource: "begin", Next: "Shape" },
      Shape: { Type: "Pass", Next: "Wait" },
      Wait: { Type: "Wait", Seconds: 30, Next: "Ask" },
      Ask: { Type: "Task", Resource: "ask", Next: "Done?" },
      "Done?": {
        Type: "Choice",
        Choices: [{ Variable: "$.done", BooleanEquals: true, Next: "End" }],
        Default: "Wait",
      },
      End: { Type: "Succeed" },
    },
  },
};

/** A tenth of a month of 730 hours, so that a month is ten times as much. */
const seen: Measured = {
  hours: 73,
  queues: new Map([["mail", { sent: 100_000, received: 110_000, idleShare: 0.75, processes: 2 }]]),
  services: new Map([
    ["orders", { instances: 3, cpuUnits: 100, memoryMiB: 200 }],
    ["mails", { instances: 2, cpuUnits: 900, memoryMiB: 1500 }],
  ]),
  workflows: new Map([["Export", { executions: 1000, transitionsEach: 184 }]]),
  requests: 900_000,
  logBytes: new Map([
    ["info", 3e9],
    ["debug", 1e9],
  ]),
  series: new Map([
    ["tuntas_queue_dead_letters", 40],
    ["tuntas_stream_members", 60],
  ]),
  calls: 104_857.6,
  starts: 4,
};

const factsOf = (given: Partial<CostFacts>): CostFacts => ({
  services: [orders, mails],
  queues: ["mail"],
  machines: [poll],
  needed: neededMetrics([]),
  measured: nothing,
  figures: {},
  prices: examplePrices,
  ...given,
});

const costs = ({ work, standing }: Estimate) =>
  Object.fromEntries([...work, ...standing].map(({ driver, cost }) => [driver, Number(cost.toFixed(4))]));

test("K-01 K-02 what a month takes is worked out by hand for each driver, and the shares come to one", () => {
  const made = estimate(factsOf({ measured: seen }));
  expect(made.work.map(({ driver }) => driver)).toEqual([...workDrivers]);
  expect(made.standing.map(({ driver }) => driver)).toEqual([...standingDrivers]);
  // Requests: 9 million answers of 8 KiB, calls: 1,048,576 of 4 KiB.
  const answerGb = (9e6 * 8) / 1_048_576;
  const mailGb = (2_100_000 * 1) / 1_048_576;
  expect(costs(made)).toEqual({
    compute: Number((5 * 730 * (0.04048 + 2 * 0.004445)).toFixed(4)),
    "idle polling": Number((((2 * 0.75 * 730 * 180) / 1e6) * 0.4).toFixed(4)),
    "queue calls": Number((((1e6 + 2 * 1.1e6) / 1e6) * 0.4).toFixed(4)),
    "NAT traffic": 0,
    logs: 21.2,
    metrics: 30,
    transitions: (10_000 * 184 * 0.025) / 1000,
    images: Number(((2500 / 1024) * 0.1).toFixed(4)),
    "data transfer": Number(((answerGb + 4) * 0.09).toFixed(4)),
    "load balancers": Number((730 * 0.0225 + Math.max(100, answerGb) * 0.008).toFixed(4)),
    "NAT gateways": 0,
    endpoints: Number((12 * 730 * 0.01 + (40 + mailGb) * 0.01).toFixed(4)),
  });
  const shares = [...made.work, ...made.standing].reduce((sum, { share }) => sum + share, 0);
  expect(shares).toBeCloseTo(1, 9);
  expect(made.work.find(({ driver }) => driver === "compute")!.basis).toEqual(["measured"]);
});

test("what is given counts more than what was measured, and what nobody saw is declared or assumed, and says so", () => {
  const basisOf = (made: Estimate, driver: Driver) =>
    [...made.work, ...made.standing].find((line) => line.driver === driver)!.basis;
  const unseen = estimate(factsOf({}));
  expect(costs(unseen).compute).toBeCloseTo(3 * 730 * (0.04048 + 2 * 0.004445), 3);
  expect(basisOf(unseen, "compute")).toEqual(["declared"]);
  expect(basisOf(unseen, "logs")).toEqual(["assumed"]);
  // Each state of the definition once.
  const promised = estimate(factsOf({ figures: { executions: 1000 } }));
  expect(costs(promised).transitions).toBe((1000 * 6 * 0.025) / 1000);
  expect(basisOf(promised, "transitions")).toEqual(["declared", "given"]);
  const given = estimate(factsOf({ measured: seen, figures: { messages: 10e6, messageKiB: 100 } }));
  // Two chunks of 64 KiB a send and a receive, and a delete that carries nothing.
  expect(costs(given)["queue calls"]).toBe((10 * (2 + 2) + 10) * 0.4);
  const none = estimate(factsOf({ services: [], queues: [], machines: [] }));
  expect(none.total).toBeCloseTo((2500 / 1024) * 0.1);
});

test("K-03 each saving names its driver and what it saves, and the estimate is cheaper by that once it is done", () => {
  const figures = {
    longPollSeconds: 1,
    logDays: 90,
    natGateways: 2,
    natGb: 2000,
    imagesKept: 100,
  };
  const now = factsOf({ measured: seen, figures });
  const made = estimate(now);
  const saved = made.savings.map(({ driver, what }) => `${driver}: ${what}`);
  for (const part of [
    "compute: orders: 0.25 vCPU and 512 MiB are enough",
    "compute: mails: scaling.min 0 instead of 1: its queue brought nothing in 75 % of the hours",
    "compute: mails: on Fargate Spot",
    "idle polling: let a receive wait 20 s instead of 1",
    "queue calls: send, receive and delete 10 messages in a call",
    "NAT gateways: 12 interface endpoints instead of 2 NAT gateways",
    "logs: keep logs 30 days instead of 90",
    "logs: TUNTAS_LOG_LEVEL=info",
    "metrics: leave tuntas_stream_members out",
    "transitions: Export: fold its 1 Pass states",
    "transitions: Export: a callback (.waitForTaskToken) instead of the rounds through Wait",
    "images: a lifecycle rule that keeps the last 10 images",
  ])
    expect(saved.join("\n")).toContain(part);
  expect(made.savings.map(({ saves }) => saves)).toEqual(
    made.savings.map(({ saves }) => saves).toSorted((a, b) => b - a),
  );
  const savesOf = (text: string) => made.savings.find(({ what }) => what.includes(text))!.saves;
  const cheaperBy = (change: Partial<CostFacts>) => made.total - estimate({ ...now, ...change }).total;
  expect(savesOf("let a receive wait")).toBeCloseTo(
    cheaperBy({ figures: { ...figures, longPollSeconds: 20 } }),
  );
  expect(savesOf("10 messages")).toBeCloseTo(cheaperBy({ figures: { ...figures, messagesPerCall: 10 } }));
  expect(savesOf("keep logs")).toBeCloseTo(cheaperBy({ figures: { ...figures, logDays: 30 } }));
  expect(savesOf("last 10 images")).toBeCloseTo(cheaperBy({ figures: { ...figures, imagesKept: 10 } }));
  const small = { ...orders, size: { cpu: 256, memoryMiB: 512 } };
  expect(savesOf("orders: 0.25 vCPU")).toBeCloseTo(cheaperBy({ services: [small, mails] }));
  const nat = 2 * 730 * 0.045 + 2000 * 0.045;
  expect(savesOf("interface endpoints")).toBeCloseTo(nat - 12 * 730 * 0.01 - 2000 * 0.01);
});

test("K-04 a metric that shows lost, doubled or corrupted data is no saving; sizes and scaling are named first", () => {
  const mine = alarm("members-missing", {
    metric: { name: "tuntas_stream_members" },
    when: { below: 1 },
    of: [1, 1],
    missing: "ignore",
    severity: "ticket",
    owner: "streams",
    runbook: "runbooks/members.md",
    notify: [],
  });
  const facts = factsOf({ measured: seen });
  expect(() => withoutMetric(facts, "tuntas_queue_dead_letters")).toThrowError(
    expect.objectContaining({
      code: "TUNTAS_COST_EVIDENCE",
      message: expect.stringMatching(
        /the alarm dead-letters watches it\. First: orders: 0\.25 vCPU and 512 MiB are enough.*\(\d+\.\d\d USD\)/,
      ),
    }),
  );
  for (const name of facts.needed.keys()) {
    expect([...metricEntries.keys()]).toContain(name);
    expect(() => withoutMetric(facts, name)).toThrowError(
      expect.objectContaining({ code: "TUNTAS_COST_EVIDENCE" }),
    );
  }
  expect(withoutMetric(facts, "tuntas_stream_members")).toMatchObject({ driver: "metrics", saves: 18 });
  const watched = { ...facts, needed: neededMetrics([mine]) };
  expect(() => withoutMetric(watched, "tuntas_stream_members")).toThrowError(/alarm members-missing/);
  expect(estimate(watched).savings.filter(({ driver }) => driver === "metrics")).toEqual([]);
  expect(() => withoutMetric(facts, "tuntas_queue_dead_leters")).toThrowError(/did you mean/);
});

test("K-06 asking every 30 s about a job of 30 minutes is 60 checks and 180 transitions against one", () => {
  expect(comparePolling({ everySeconds: 30, forSeconds: 1800, executions: 1000 }, examplePrices)).toEqual({
    checks: 60,
    transitions: 180,
    callbackTransitions: 1,
    extraTransitions: 179,
    historyShare: (60 * 9) / 25_000,
    extraCost: expect.closeTo(179 * 0.025, 9),
    lateSeconds: 15,
  });
});

test("prices and figures that are incomplete or unknown are refused, each named", () => {
  expect(checkPrices(structuredClone(examplePrices))).toEqual(examplePrices);
  const broken = { ...examplePrices, asOf: "June", prices: { ...examplePrices.prices, natHour: -1 } };
  expect(() => checkPrices(broken)).toThrowError(/asOf: expected a day .*; prices\.natHour: expected/);
  expect(() => checkPrices({ ...examplePrices, prices: {} })).toThrowError(/prices\.vcpuHour/);
  expect(() => checkPrices({ ...examplePrices, price: 1 })).toThrowError(/did you mean prices/);
  expect(() => checkFigures({ messges: 3 })).toThrowError(/did you mean messages/);
  expect(() => checkFigures({ messagesPerCall: 0, logGb: "1" })).toThrowError(
    /messagesPerCall: expected a number from 1, got 0; logGb: expected a number from 0/,
  );
  for (const each of [null, [], 3]) expect(() => checkFigures(each)).toThrowError(/object of numbers/);
});

test("K-01 what ran here is measured: messages, transitions with their retries, series, and what was logged", async () => {
  vi.stubEnv("TUNTAS_LOG_LEVEL", "warn");
  await using kit = await testPlatform({ log: makeLog() });
  // Measured by the hour: all of it in one.
  const hourMs = 3_600_000;
  const leftMs = hourMs - ((await kit.platform.series.nowMs()) % hourMs);
  if (leftMs < 120_000) await kit.advance(leftMs);
  const deadLetter = { after: 5, owner: "mails", runbook: "runbooks/mails.md", retention: "14d" } as const;
  const mail = queue("mail", { message: z.object({ n: z.number() }), deadLetter });
  let failures = 1;
  const send = workflow("Send", {
    definition: {
      StartAt: "Shape",
      States: {
        Shape: { Type: "Pass", Next: "Tell" },
        Tell: {
          Type: "Task",
          Resource: "tell",
          Retry: [{ ErrorEquals: ["States.ALL"], IntervalSeconds: 1, MaxAttempts: 2 }],
          End: true,
        },
      },
    },
    tasks: {
      tell: task({
        idempotent: true,
        handle() {
          if (failures-- > 0) throw new Error("not yet");
          return {};
        },
      }),
    },
  });
  let handled = 0;
  const mailWorker = worker(mail, {
    idempotencyKey: "none",
    timeout: "5s",
    handle: ({ n }, { log }) => {
      if (handled++ === 0) log.warn({ n }, "sent");
    },
  });
  const application = app({ mail, mailWorker, send });
  const running = await start(application, { platform: kit.platform });
  for (let n = 0; n < 20; n++) await mail.send({ n });
  const ended = new Promise((resolve) => channel("tuntas.workflow.ended").subscribe(resolve));
  await send.start({});
  expect(await ended).toMatchObject({ status: "SUCCEEDED" });
  await expect.poll(() => handled).toBe(20);
  await kit.platform.sample();
  const declared = gather([{ file: "app.ts", exports: { application } }]);
  const facts = await readCostFacts(kit.platform, {
    declared,
    days: 7,
    figures: {},
    prices: examplePrices,
  });
  await running.stop();
  const { measured } = facts;
  expect(measured.hours).toBe(1);
  expect(measured.queues.get("mail")).toMatchObject({ sent: 20, received: 20, idleShare: 0 });
  // Two states and one retry.
  expect(measured.workflows.get("Send")).toEqual({ executions: 1, transitionsEach: 3 });
  expect(measured.series.get("tuntas_queue_messages_total")).toBeGreaterThan(0);
  const made = estimate(facts);
  expect(made.work.find(({ driver }) => driver === "queue calls")).toMatchObject({
    basis: ["measured", "assumed"],
    quantity: expect.stringMatching(/^43,800 /),
  });
  expect([...measured.logBytes.keys()]).toEqual(["warn"]);
  expect(measured.logBytes.get("warn")).toBeGreaterThan(100);
  vi.unstubAllEnvs();
}, 60_000);
