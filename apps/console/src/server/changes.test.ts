import { expect, test } from "vitest";
import { revisionOf, service, type ServiceOptions } from "tuntas/service";
import { changesBetween } from "./changes.ts";

const options: ServiceOptions = {
  kind: "rest",
  run: { command: ["./api"] },
  environment: { TOKEN: "s3cret", REGION: "eu" },
  cpu: { request: 128, limit: 512 },
  memory: { request: 64, limit: 256 },
  stopTimeout: "20s",
  healthCheck: { presence: true, interval: "5s", timeout: "2s", retries: 3 },
  rollout: { minimumHealthyPercent: 50, maximumPercent: 200, circuitBreaker: { rollback: true } },
  scaling: { fixed: 1, because: "a test" },
};
const revision = (change: Partial<ServiceOptions>) => revisionOf(service("api", { ...options, ...change }));

test("a revision's changes are told by path and value, those of the environment by name alone", () => {
  const changed = revision({
    version: "2",
    memory: { request: 64, limit: 512 },
    environment: { TOKEN: "0ther", ZONE: "a" },
    rollout: { ...options.rollout, circuitBreaker: "off" },
  });
  expect(changesBetween(revision({}), revision({}))).toEqual([]);
  expect(changesBetween(revision({}), changed).toSorted()).toEqual([
    "environment.REGION removed",
    "environment.TOKEN changed",
    "environment.ZONE added",
    "memory.limit 256 → 512",
    "rollout.circuitBreaker none → null",
    "rollout.circuitBreaker.rollback true → none",
    'version null → "2"',
  ]);
});
