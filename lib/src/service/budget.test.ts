import { expect, test } from "vitest";
import { testPlatform } from "../testing/index.ts";
import { budgetOf, checkConnections } from "./budget.ts";
import { revisionOf } from "./declaration.ts";
import { web } from "./stage.fixture.ts";

const rollout = (maximumPercent: number) =>
  ({ minimumHealthyPercent: 50, maximumPercent, circuitBreaker: "off" }) as const;

const services = {
  api: revisionOf(web("api", { count: 4, connections: 10, rollout: rollout(200) })),
  worker: revisionOf(web("worker", { count: 3, rollout: rollout(150) })),
  static: revisionOf(web("static", { count: 2, connections: 0 })),
};

test("D-16: the budget counts the surge of a deployment: instances × connections × maximumPercent, against what the server has", () => {
  const at = (available: number) => budgetOf(services, { perProcess: 25, others: 2, available });
  expect(at(230).lines).toEqual([
    { service: "api", instances: 4, surge: 8, each: 10, declared: true, connections: 80 },
    { service: "worker", instances: 3, surge: 4, each: 25, declared: false, connections: 100 },
    { service: "static", instances: 2, surge: 4, each: 0, declared: true, connections: 0 },
  ]);
  expect(at(230)).toMatchObject({ others: { processes: 2, connections: 50 }, total: 230, fits: true });
  expect(at(229).fits).toBe(false);
});

test("D-16: the server is asked what it has, and who lives besides", async () => {
  await using kit = await testPlatform();
  await kit.another();
  const budget = await checkConnections(kit.platform.database, services);
  expect(budget).toMatchObject({ others: { processes: 1 } });
  expect(budget!.available).toBeGreaterThan(50);
});
