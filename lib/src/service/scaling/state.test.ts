// The table of decisions: what is seen, what comes of it, and the reason that goes on record.
import fc from "fast-check";
import { expect, test } from "vitest";
import { scalingReasons, type QueueFigures, type QueueRule, type ScalingRule } from "./contract.ts";
import { decideScaling, type Standing } from "./state.ts";
import { reasonText, ruleText } from "./words.ts";

const target: QueueRule = {
  queue: "work",
  backlogPerInstance: 100,
  oldestAgeMs: 60_000,
  downstream: { name: "bank", safePerSecond: 100, perInstance: 10, slowAboveMs: 500 },
};
const rule: ScalingRule = {
  min: 1,
  max: 50,
  target,
  scaleOutCooldownMs: 30_000,
  scaleInCooldownMs: 300_000,
};
const standing: Standing = {
  nowMs: 1_000_000,
  desired: 4,
  running: 4,
  scaledAtMs: null,
  deploying: false,
};
const calm: QueueFigures = {
  backlog: 380,
  backlogPerInstance: 95,
  oldestAgeSeconds: 5,
  inFlight: 10,
  paused: false,
  producedPerMinute: 0,
  processedPerMinute: 600,
  endedLately: 3000,
  processingMs: 40,
  downstreamMs: 20,
  downstreamOpen: false,
  retryShare: 0,
  throttledShare: 0,
  deadLetterGrowth: 0,
};

interface Seen extends Partial<QueueFigures>, Partial<Standing> {}

const asked = (of: ScalingRule, seen: Seen) => {
  const { nowMs, desired, running, scaledAtMs, deploying } = { ...standing, ...seen };
  const { action, reason, to } = decideScaling(
    of,
    { nowMs, desired, running, scaledAtMs, deploying },
    { ...calm, ...seen },
  );
  return [action, to, reason];
};

const up = { backlog: 800 };

test.each<readonly [string, Seen, readonly unknown[]]>([
  [
    "X-01: 600 visible, 3 running, target 100",
    { backlog: 600, desired: 3, running: 3 },
    ["out", 6, "backlog"],
  ],
  ["X-02: few but old, work goes on", { backlog: 20, oldestAgeSeconds: 90 }, ["out", 6, "age"]],
  ["X-02: very old: at most twice as many", { backlog: 20, oldestAgeSeconds: 900 }, ["out", 8, "age"]],
  [
    "X-02: old and none runs",
    { backlog: 1, oldestAgeSeconds: 90, desired: 0, running: 0 },
    ["out", 1, "bounds"],
  ],
  ["X-03: never above what the downstream bears", { backlog: 1e6 }, ["out", 10, "backlog"]],
  ["X-03: at what it bears", { backlog: 1e6, desired: 10, running: 10 }, ["hold", 10, "downstream_cap"]],
  [
    "X-03: above what it bears, at once",
    { desired: 12, running: 12, scaledAtMs: 999_999 },
    ["in", 10, "downstream_cap"],
  ],
  ["X-06: backlog up, downstream healthy", up, ["out", 8, "backlog"]],
  [
    "X-04: backlog up, downstream left alone",
    { ...up, downstreamOpen: true },
    ["hold", 4, "downstream_open"],
  ],
  ["X-04: backlog up, downstream slow", { ...up, downstreamMs: 501 }, ["hold", 4, "downstream_slow"]],
  [
    "X-04: backlog up, downstream throttles",
    { ...up, throttledShare: 0.2, retryShare: 0.2 },
    ["hold", 4, "throttled"],
  ],
  ["X-06: backlog up, failure rate up", { ...up, retryShare: 0.3 }, ["hold", 4, "failing"]],
  ["X-06: backlog up, dead letters grow", { ...up, deadLetterGrowth: 200 }, ["hold", 4, "failing"]],
  [
    "X-06: one dead letter among thousands stops nothing",
    { ...up, deadLetterGrowth: 1 },
    ["out", 8, "backlog"],
  ],
  ["X-06: backlog up, instances pending", { ...up, running: 3 }, ["hold", 4, "pending"]],
  ["X-06: backlog low: a quarter at a time", { backlog: 0, desired: 8, running: 8 }, ["in", 6, "quiet"]],
  ["X-06: backlog low, and old", { backlog: 10, oldestAgeSeconds: 58 }, ["hold", 4, "steady"]],
  [
    "X-06: age high, few messages, nothing ends",
    { backlog: 3, oldestAgeSeconds: 90, endedLately: 0 },
    ["hold", 4, "stuck"],
  ],
  ["the queue is paused", { ...up, paused: true }, ["hold", 4, "paused"]],
  ["at the target", {}, ["hold", 4, "steady"]],
  ["X-14: just under the target", { backlog: 361 }, ["hold", 4, "steady"]],
  ["X-14: out, in the cool-down", { ...up, scaledAtMs: 980_000 }, ["hold", 4, "cooldown"]],
  ["X-14: in, in the cool-down", { backlog: 0, scaledAtMs: 800_000 }, ["hold", 4, "cooldown"]],
  ["X-14: in, while deploying", { backlog: 0, deploying: true }, ["hold", 4, "deploying"]],
  [
    "X-16: fewer would not do what is produced",
    { backlog: 0, producedPerMinute: 2300 },
    ["hold", 4, "produced"],
  ],
  ["X-16: fewer do what is produced", { backlog: 0, producedPerMinute: 1700 }, ["in", 3, "quiet"]],
])("%s", (_, seen, expected) => {
  expect(asked(rule, seen)).toEqual(expected);
});

test("a rule by CPU, and those that know nothing of age and downstream", () => {
  const cpu = { ...rule, target: { cpuPercent: 50 } };
  const of = (cpuPercent: number) => decideScaling(cpu, standing, { cpuPercent });
  expect(of(80)).toMatchObject({ to: 7, reason: "cpu", figures: { cpuPercent: 80 } });
  expect(of(46)).toMatchObject({ to: 4, reason: "steady" });
  expect(of(10)).toMatchObject({ to: 3, reason: "quiet" });
  const before = { ...rule, target: { queue: "work", backlogPerInstance: 100 } };
  expect(asked(before, { backlog: 2000, oldestAgeSeconds: 1e6 })).toEqual(["out", 20, "backlog"]);
  expect(ruleText(rule)).toBe(
    "1 to 50, by 100 messages of work each, none older than 1m, at most 100 calls a second of bank, which makes 10 the most",
  );
  expect(ruleText(before)).toBe("1 to 50, by 100 messages of work each");
  expect(new Set(scalingReasons.map(reasonText)).size).toBe(scalingReasons.length);
});

test("X-08: by requests, with the CPU as guard: the one that asks for more decides", () => {
  const api = { ...rule, target: { cpuPercent: 70, requestsPerInstance: 600 } };
  const of = (requestsPerInstance: number, cpuPercent: number) => {
    const { to, reason } = decideScaling(api, standing, { cpuPercent, requestsPerInstance });
    return [to, reason];
  };
  expect(of(900, 20)).toEqual([6, "requests"]);
  expect(of(300, 95)).toEqual([6, "cpu"]);
  expect(of(580, 65)).toEqual([4, "steady"]);
  expect(of(580, 5)).toEqual([4, "steady"]);
  expect(of(100, 5)).toEqual([3, "quiet"]);
  expect(ruleText(api)).toBe("1 to 50, by 600 requests a minute each, at most 70 % of the CPU limit");
});

test("X-03 X-04: whatever is seen, it stays in its bounds, and adds nothing while the downstream is in trouble", () => {
  const share = fc.double({ min: 0, max: 1, noNaN: true });
  const seen = fc.record({
    backlog: fc.nat(1e6),
    oldestAgeSeconds: fc.nat(1e5),
    retryShare: share,
    throttledShare: share,
    downstreamMs: fc.nat(2000),
    downstreamOpen: fc.boolean(),
    endedLately: fc.nat(1000),
    desired: fc.integer({ min: 1, max: 10 }),
  });
  fc.assert(
    fc.property(seen, (of) => {
      const [action, to] = asked(rule, { ...of, running: of.desired });
      expect(to).toBeGreaterThanOrEqual(1);
      expect(to).toBeLessThanOrEqual(10);
      const isTroubled =
        of.downstreamOpen || of.downstreamMs > 500 || of.retryShare > 0.2 || of.throttledShare > 0.1;
      if (isTroubled) expect(action).not.toBe("out");
    }),
  );
});

test("X-14: an hour of a sawtooth of three minutes makes no more changes than its cool-downs allow", () => {
  let [desired, scaledAtMs, changes] = [1, null as number | null, 0];
  for (let nowMs = 0; nowMs < 3_600_000; nowMs += 10_000) {
    const backlog = Math.round((1000 * (nowMs % 180_000)) / 180_000);
    const { to } = decideScaling(
      rule,
      { nowMs, desired, running: desired, scaledAtMs, deploying: false },
      { ...calm, backlog },
    );
    if (to !== desired) [desired, scaledAtMs, changes] = [to, nowMs, changes + 1];
  }
  // Up to the top in the first teeth; then a step down every five minutes at the most, and back.
  expect(changes).toBeLessThanOrEqual(26);
  expect(desired).toBeGreaterThanOrEqual(6);
});
