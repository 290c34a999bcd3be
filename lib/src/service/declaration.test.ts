import { expect, test } from "vitest";
import { revisionOf, service } from "./declaration.ts";
import type { ServiceOptions } from "./contract.ts";

const sound: ServiceOptions = {
  kind: "rest",
  run: { module: "./api.js" },
  port: { variable: "PORT" },
  cpu: { request: 256, limit: 512 },
  memory: { request: 128, limit: 256 },
  stopTimeout: "30s",
  healthCheck: { http: "/readyz", interval: "5s", timeout: "2s", retries: 3 },
  rollout: { minimumHealthyPercent: 100, maximumPercent: 200, circuitBreaker: { rollback: true } },
  scaling: {
    min: 1,
    max: 4,
    target: { cpuPercent: 60 },
    scaleOutCooldown: "30s",
    scaleInCooldown: "5m",
  },
};

test("U-08: what is silent does not compile", () => {
  const { memory: _, ...rest } = sound;
  // @ts-expect-error -- memory is missing
  expect(() => service("orders-api", rest)).toThrow(/memory: expected \{ request, limit \} in MiB/);
  const { scaling: __, ...more } = sound;
  // @ts-expect-error -- scaling is missing
  expect(() => service("orders-api", more)).toThrow(/scaling: expected/);
});

test("U-08: an untyped declaration is told everything that it leaves out, at once", () => {
  const untyped = { kind: "rest", run: { module: "./api.js" } } as unknown as ServiceOptions;
  expect(() => service("orders-api", untyped)).toThrow(
    expect.objectContaining({
      code: "TUNTAS_SERVICE_OPTIONS",
      message: expect.stringMatching(/cpu: .*memory: .*stopTimeout: .*healthCheck: .*rollout\..*scaling: /),
    }),
  );
});

test.each<readonly [string, Partial<ServiceOptions>, RegExp]>([
  ["a kind that there is not", { kind: "batch" as "rest" }, /kind: expected one of rest, grpc/],
  [
    "a request above the limit",
    { memory: { request: 512, limit: 256 } },
    /memory: .*request at most the limit/,
  ],
  [
    "a stop that ECS would not wait for",
    { stopTimeout: "3m" },
    /stopTimeout: expected a duration from 0s to 2m/,
  ],
  ["a check of a port that there is not", { port: undefined as never }, /http needs a port/],
  ["more minima than maxima", { scaling: { ...sound.scaling, min: 5 } as never }, /0 <= min <= max/],
  ["a fixed count without a reason", { scaling: { fixed: 1, because: "" } }, /why it is not scaled/],
  [
    "a roll-out that could never begin",
    { rollout: { minimumHealthyPercent: 100, maximumPercent: 150, circuitBreaker: "off" } },
    /may run 1 and must keep 1, so that no batch could begin/,
  ],
])("refuses %s", (_, change, message) => {
  expect(() => service("orders-api", { ...sound, ...change })).toThrow(message);
});

test("a revision has its times in ms, and runs where it is declared", () => {
  const { directory, stopTimeoutMs, healthCheck, rollout } = revisionOf(service("orders-api", sound));
  expect(import.meta.url).toContain(directory);
  expect({ stopTimeoutMs, healthCheck, rollout }).toEqual({
    stopTimeoutMs: 30_000,
    healthCheck: { probe: { http: "/readyz" }, intervalMs: 5000, timeoutMs: 2000, retries: 3, graceMs: 0 },
    rollout: {
      minimumHealthyPercent: 100,
      maximumPercent: 200,
      circuitBreaker: { rollback: true },
      deregistrationDelayMs: 1000,
    },
  });
});
