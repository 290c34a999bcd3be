import { expect, test } from "vitest";
import { batchesOf } from "./batches.ts";
import type { ServiceEvent } from "./contract.ts";

let [atMs, id] = [0, 0];
const at = (
  event: string,
  instanceId: string | null,
  detail: ServiceEvent["detail"] = {},
  deploymentId = "7",
): ServiceEvent => ({ id: String(++id), atMs: ++atMs, event, deploymentId, instanceId, detail });

test("U-09 a deployment's log comes apart into its batches, with health, ends, and what each replaced", () => {
  const events = [
    at("deploying", null),
    at("batch", null, { count: 2 }),
    at("started", "11"),
    at("started", "12"),
    at("stopping", "3", { stopReason: "unhealthy" }, "6"),
    at("health", "11", { health: "healthy" }),
    at("health", "12", { health: "healthy" }),
    at("stopping", "4", { stopReason: "deployment" }, "6"),
    at("batch", null, { count: 1 }),
    at("started", "13"),
    at("health", "11", { health: "unhealthy" }),
    at("stopping", "11", { stopReason: "unhealthy" }),
    at("stopped", "11", { stopReason: "unhealthy", exit: "0" }),
    at("health", "13", { health: "healthy" }),
    at("health", "12", { health: "healthy" }),
    at("completed", null),
  ];
  const whole = { stoppedAtMs: null, stopReason: null };
  expect(batchesOf("7", events)).toEqual([
    {
      atMs: 2,
      instances: [
        { id: "11", startedAtMs: 3, healthyAtMs: 6, stoppedAtMs: 13, stopReason: "unhealthy" },
        { id: "12", startedAtMs: 4, healthyAtMs: 7, ...whole },
      ],
      replaced: ["4"],
    },
    { atMs: 9, instances: [{ id: "13", startedAtMs: 10, healthyAtMs: 14, ...whole }], replaced: [] },
  ]);
});

test("one that could not be started ends without having begun; before the first batch there is none", () => {
  expect(batchesOf("7", [at("deploying", null)])).toEqual([]);
  const [batch] = batchesOf("7", [
    at("batch", null, { count: 1 }),
    at("stopped", "5", { stopReason: "start_failed" }),
  ]);
  expect(batch!.instances).toEqual([
    { id: "5", startedAtMs: null, healthyAtMs: null, stoppedAtMs: atMs, stopReason: "start_failed" },
  ]);
});
