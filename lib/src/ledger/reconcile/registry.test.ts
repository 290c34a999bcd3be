import { expect, test } from "vitest";
import { app, start } from "../../index.ts";
import { testPlatform, type TestPlatform } from "../../testing/index.ts";
import type { ReconciliationOptions } from "./contract.ts";
import { reconciliation } from "./declaration.ts";
import { makeRegistry } from "./registry.ts";
import { standing } from "./run.ts";
import { listRegistered } from "./store.ts";

const of = { kind: "workflow", name: "CaseActivation" } as const;

/** A reconciliation that always finds one discrepancy, and counts its runs. */
function counted(name: string, every: ReconciliationOptions["every"] = "1h") {
  const runs = { count: 0 };
  const declared = reconciliation({
    name,
    invariant: "every case has an execution",
    anomaly: "workflow_missing",
    owner: "cases-team",
    of,
    every,
    async source() {
      runs.count++;
      return new Map([["c1", "APPROVED"]]);
    },
    derived: async () => new Map(),
  });
  return { declared, runs };
}

const registryOf = ({ platform }: TestPlatform) =>
  makeRegistry(platform.database, (cause) => {
    throw cause;
  });

test("R-15 of many processes one runs it, once a period, and its results are kept", async () => {
  await using kit = await testPlatform();
  const { declared, runs } = counted("cases");
  const registries = [registryOf(kit), registryOf(kit), registryOf(kit)];
  for (const registry of registries) await registry.register([declared]);
  const round = async () => {
    await Promise.all(registries.map((registry) => registry.look()));
    await Promise.all(registries.map((registry) => registry.idle()));
  };
  await round();
  await round();
  expect(runs.count).toBe(1);
  expect(await standing(kit.platform.database, "cases")).toMatchObject([
    { key: "c1", anomaly: "workflow_missing" },
  ]);
  expect(await listRegistered(kit.platform.database)).toMatchObject([
    {
      name: "cases",
      ofKind: "workflow",
      ofName: "CaseActivation",
      everyMs: 3_600_000,
      compared: 1,
      found: 1,
      standing: 1,
    },
  ]);
  // A process that starts after the period has passed finds it due.
  await kit.advance(3_600_000);
  const late = registryOf(kit);
  await late.register([declared]);
  await late.look();
  await late.idle();
  expect(runs.count).toBe(2);
});

test("R-15 what is registered on demand is listed and never run by the clock; what ends is forgotten", async () => {
  await using kit = await testPlatform();
  const [never, gone] = [counted("never", "on demand"), counted("gone")];
  const registry = registryOf(kit);
  await registry.register([never.declared]);
  (await registry.register([gone.declared]))();
  await registry.look();
  await registry.idle();
  expect([never.runs.count, gone.runs.count]).toEqual([0, 0]);
  expect(await listRegistered(kit.platform.database)).toMatchObject([
    { name: "gone", lastRunAtMs: null },
    { name: "never", everyMs: null, nextMs: null },
  ]);
});

test("R-15 one that fails says why, and is run again after its period", async () => {
  await using kit = await testPlatform();
  const complaints: unknown[] = [];
  const registry = makeRegistry(kit.platform.database, (cause) => complaints.push(cause));
  const failing = reconciliation({
    ...counted("failing", "10m").declared.options,
    source: () => Promise.reject(Object.assign(new Error("no such bucket"), { code: "NoSuchBucket" })),
  });
  await registry.register([failing]);
  await registry.look();
  await registry.idle();
  expect(complaints).toMatchObject([{ message: expect.stringContaining("no such bucket") }]);
  const [row] = await listRegistered(kit.platform.database);
  expect(row).toMatchObject({
    failureCode: "NoSuchBucket",
    failureMessage: "no such bucket",
    lastRunAtMs: null,
  });
  expect(row!.nextMs).toBeGreaterThan(9 * 60_000);
});

test("R-15 an application declares it beside its workload, and has it run", async () => {
  await using kit = await testPlatform();
  const { declared } = counted("declared");
  await using running = await start(app({ declared }), { platform: kit.platform });
  const ran = async () => (await listRegistered(running.platform.database))[0]?.lastRunAtMs;
  await expect.poll(ran).toEqual(expect.any(Number));
});
