import { expect, test } from "vitest";
import { apiPanel, releasePanel, workerPanel, type PanelFacts } from "./panels.ts";

const nowMs = Date.UTC(2026, 10, 29, 12);
const minute = 60_000;
const latency = { p50Ms: 12, p95Ms: 80, p99Ms: 1400 };
const facts: PanelFacts = {
  nowMs,
  processes: { running: 3, late: 0, cpu: 0.42, memoryBytes: 120 * 1_048_576 },
  requests: { "2xx": 480, "4xx": 12, "5xx": 8 },
  requestLatency: latency,
  queues: { ready: 34, oldestMs: 4000, dead: 0, workers: 2 },
  donePerMinute: 400,
  failures: [
    ["CARD_DECLINED", 6],
    ["TIMEOUT", 2],
  ],
  handlerLatency: latency,
  downstream: { latency, calls: 200, failed: 30 },
  releases: [
    { revision: "v1", atMs: nowMs - 900 * minute },
    { revision: "v2", atMs: nowMs - 90 * minute },
    { revision: "v3", atMs: nowMs - 30 * minute },
  ],
  alarmsAtMs: [nowMs - 26 * minute],
  firing: 1,
  digest: undefined,
};

test("V-09 the API's panel has nine figures: requests, times, classes, health, processes, machine, deployments, errors, logs", () => {
  const panel = apiPanel(facts);
  expect(panel.map(({ name, value }) => [name, value])).toEqual([
    ["Requests", "100"],
    ["Response time", "12 ms"],
    ["4xx and 5xx", "12, 8"],
    ["Healthy", "3 of 3"],
    ["Running", "3"],
    ["CPU and memory", "0.42 CPU"],
    ["Deployments", "3"],
    ["Errors", "1.6 %"],
    ["Logs", "correlationId"],
  ]);
  expect(panel[1]!.note).toBe("p95 80 ms, p99 1.4 s");
  expect(panel.filter(({ fine }) => fine === false).map(({ name }) => name)).toEqual([
    "4xx and 5xx",
    "Errors",
  ]);
});

test("V-10 the workers' panel has nine figures: visible, oldest, dead, running, pace, failures, times, machine, downstream", () => {
  const panel = workerPanel(facts);
  expect(panel.map(({ name, value }) => [name, value])).toEqual([
    ["Visible", "34"],
    ["Oldest", "4 s"],
    ["Dead letters", "0"],
    ["Running", "2"],
    ["Processed", "400"],
    ["Failures by type", "8"],
    ["Latency", "12 ms"],
    ["CPU and memory", "0.42 CPU"],
    ["Downstream", "12 ms"],
  ]);
  expect(panel[5]!.note).toBe("CARD_DECLINED 6, TIMEOUT 2");
  expect(panel.filter(({ fine }) => fine === false).map(({ name }) => name)).toEqual(["Downstream"]);
});

test("V-11 the release's panel has six figures; one after which somebody was paged is in trouble, the one before was good", () => {
  const valuesOf = (of: PanelFacts) => releasePanel(of).map(({ name, value }) => [name, value]);
  expect(valuesOf(facts)).toEqual([
    ["Revision", "v3"],
    ["Image digest", null],
    ["Status", "in trouble"],
    ["Last good", "v2"],
    ["Rollback", "none"],
    ["Alarms", "1"],
  ]);
  const back = [...facts.releases, { revision: "v2", atMs: nowMs - 20 * minute }];
  expect(valuesOf({ ...facts, releases: back, firing: 0, digest: "sha256:ab" })).toEqual([
    ["Revision", "v2"],
    ["Image digest", "sha256:ab"],
    ["Status", "steady"],
    ["Last good", "v2"],
    ["Rollback", "v2"],
    ["Alarms", "0"],
  ]);
});
