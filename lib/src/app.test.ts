import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { app, queue, start } from "./index.ts";
import { reconciliation } from "./ledger/index.ts";
import { testPlatform, type TestPlatform } from "./testing/index.ts";

let kit: TestPlatform;
beforeAll(async () => void (kit = await testPlatform()));
afterAll(() => kit[Symbol.asyncDispose]());

test("a start that fails in the middle leaves nothing behind: what was bound is not, and the next start works", async () => {
  const orders = queue("begun", {
    message: z.object({}),
    deadLetter: { after: 3, owner: "team", runbook: "r.md", retention: "4d" },
  });
  const { databaseUrl, schema, platform } = kit;
  const broken = reconciliation({
    name: "",
    invariant: "none",
    anomaly: "workflow_missing",
    owner: "team",
    of: { kind: "workflow", name: "none" },
    every: "on demand",
    source: async () => new Map(),
    derived: async () => new Map(),
  });
  await expect(start(app({ orders, broken }), { databaseUrl, schema })).rejects.toMatchObject({
    code: "TUNTAS_REQUEST_INVALID",
  });
  await expect(orders.send({})).rejects.toMatchObject({ code: "TUNTAS_NOT_STARTED" });
  await using _running = await start(app({ orders }), { platform });
  await orders.send({});
});
