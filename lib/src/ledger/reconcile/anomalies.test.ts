// Each anomaly is injected, found, reported, and repaired once, over tables as an application would have them.
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { channelName } from "../../engine/signals.ts";
import type { Sql, Tx } from "../../pg/contract.ts";
import { testPlatform, type TestPlatform } from "../../testing/index.ts";
import { effect } from "../effect/effect.ts";
import { provider } from "../effect/provider.ts";
import { findEffect } from "../effect/store.ts";
import { reserve } from "../reservation/reservation.ts";
import {
  callbackLost,
  effectUnrecorded,
  outboxStuck,
  reservationLapsed,
  statusStale,
  workflowMissing,
} from "./anomalies.ts";
import type { Difference, Reconciliation, View } from "./contract.ts";
import { reconciliation } from "./declaration.ts";
import { approveRepair, dismiss, reconcile, repair, standing } from "./run.ts";
import { repairsByAnomaly } from "./store.ts";

let kit: TestPlatform;
beforeAll(async () => {
  kit = await testPlatform();
  await kit.platform.ledger.close();
  await query(
    `create table ${kit.schema}.cases (id text primary key, status text not null, reservation_id text)`,
  );
  await query(`create table ${kit.schema}.runs (id text primary key, status text not null)`);
  await query(`create table ${kit.schema}.jobs (id text primary key, result text, token text)`);
});
afterAll(() => kit[Symbol.asyncDispose]());

const query = (text: string, values: unknown[] = []) =>
  kit.platform.database.transaction(async (tx) => (await tx.client.query(text, values)).rows);

/** A side of a comparison, read by SQL that answers key and text. */
const view = (text: string) => (sql: Sql) =>
  sql.transaction(
    async (tx): Promise<View> =>
      new Map(
        (await tx.client.query(text.replaceAll("app.", `${kit.schema}.`))).rows.map((row) => [
          row.key,
          row.text,
        ]),
      ),
  );

const mend =
  (text: string) =>
  async (tx: Tx, { key }: Difference) =>
    void (await tx.client.query(text.replaceAll("app.", `${kit.schema}.`), [key]));

const decision = { by: "ana", reason: "seen and understood" };
const shared = {
  owner: "cases-team",
  of: { kind: "workflow", name: "CaseActivation" },
  every: "1h",
} as const;

/** Finds exactly one, repairs it after approval, and finds none afterwards. Answers how many repairs were announced. */
async function injectedFoundRepaired(
  declared: Reconciliation,
  key: string,
  settled: Promise<unknown> = Promise.resolve(),
): Promise<void> {
  const { database } = kit.platform;
  const repairs: unknown[] = [];
  const hear = (message: unknown) => void repairs.push(message);
  subscribe(channelName("reconciliation.repaired"), hear);
  const report = await reconcile(database, declared);
  expect(report).toMatchObject({
    found: 1,
    added: [{ key, anomaly: declared.options.anomaly, state: "open" }],
  });
  expect((await reconcile(database, declared)).added).toEqual([]); // it stands already
  const { id } = report.added[0]!;
  await expect(repair(database, declared, id)).rejects.toMatchObject({ code: "TUNTAS_REPAIR_UNAPPROVED" });
  await approveRepair(database, id, decision);
  const outcomes = await Promise.allSettled([repair(database, declared, id), repair(database, declared, id)]);
  expect(outcomes.filter((each) => each.status === "fulfilled" && each.value === "repaired")).toHaveLength(1);
  await settled;
  expect(await reconcile(database, declared)).toMatchObject({ found: 0, added: [] });
  unsubscribe(channelName("reconciliation.repaired"), hear);
  expect(repairs).toEqual([{ name: declared.options.name, anomalyType: declared.options.anomaly }]);
  const [row] = await query(
    `select state, decided_by, decided_reason, repaired_at is not null as repaired from ${kit.schema}.discrepancy where id = $1`,
    [id],
  );
  expect(row).toEqual({
    state: "repaired",
    decided_by: "ana",
    decided_reason: decision.reason,
    repaired: true,
  });
}

describe("R-01 R-02 R-07 R-18 the six anomalies", () => {
  test("R-08 an approved case whose workflow is missing is started", async () => {
    await query(`insert into ${kit.schema}.cases values ('c1', 'APPROVED')`);
    const declared = workflowMissing({
      ...shared,
      accepted: view(`select id as key, status as text from app.cases where status = 'APPROVED'`),
      executions: view(`select id as key, status as text from app.runs`),
      start: mend(`insert into app.runs values ($1, 'RUNNING')`),
    });
    await injectedFoundRepaired(declared, "c1");
    expect(await query(`select * from ${kit.schema}.runs`)).toEqual([{ id: "c1", status: "RUNNING" }]);
  });

  test("R-09 R-14 a complete job whose callback was lost is called back; with an invalid token a person decides", async () => {
    await query(`insert into ${kit.schema}.jobs values ('j1', 'found', 'valid')`);
    const declared = callbackLost({
      ...shared,
      completedJobs: view(`select id as key, result as text from app.jobs where result is not null`),
      tokens: view(`select id as key, token as text from app.jobs where token is not null`),
      resend: mend(`update app.jobs set token = null where id = $1`),
    });
    await injectedFoundRepaired(declared, "j1");
    await query(`insert into ${kit.schema}.jobs values ('j2', 'found', 'timed out')`);
    expect((await reconcile(kit.platform.database, declared)).added).toMatchObject([
      { key: "j2", state: "manual" },
    ]);
  });

  test("R-10 R-03 a succeeded execution with a stale status is given its transition", async () => {
    await query(`insert into ${kit.schema}.cases values ('c3', 'NOTICE_SENT')`);
    await query(`insert into ${kit.schema}.runs values ('c3', 'SUCCEEDED')`);
    const declared = statusStale({
      ...shared,
      succeeded: view(`select id as key, 'ACTIVE' as text from app.runs where status = 'SUCCEEDED'`),
      statuses: view(`select id as key, status as text from app.cases`),
      transition: mend(`update app.cases set status = 'ACTIVE' where id = $1 and status = 'NOTICE_SENT'`),
    });
    await injectedFoundRepaired(declared, "c3");
  });

  test("R-11 an outbox row that waits too long is reclaimed, and published", async () => {
    const [row] = await query(
      `insert into ${kit.schema}.outbox (event_id, target_kind, target_name, payload, created_at, due_at, refusals, parked_at)
       values (gen_random_uuid(), 'function', 'mended', 'x', now() - interval '1 hour', now(), 10, now()) returning id::text`,
    );
    const got: string[] = [];
    kit.platform.targets.bind(
      { kind: "function", name: "mended" },
      { deliver: async ({ payload }) => void got.push(payload) },
    );
    const published = new Promise<void>((resolve) => {
      const hear = () => (unsubscribe(channelName("outbox.published"), hear), resolve());
      subscribe(channelName("outbox.published"), hear);
    });
    await injectedFoundRepaired(outboxStuck({ ...shared, olderMs: 60_000 }), row.id as string, published);
    expect(got).toEqual(["x"]);
  });

  test("R-12 a case that builds on an expired reservation is resolved by rule", async () => {
    const { database } = kit.platform;
    const reserved = await database.transaction((tx) =>
      reserve(tx, { kind: "case-number", resource: "N-1", holder: "c5", expiresIn: "30m" }),
    );
    const id = reserved.status === "conflict" ? expect.unreachable() : reserved.reservation.id;
    await query(`insert into ${kit.schema}.cases values ('c5', 'NUMBER_RESERVED', $1)`, [id]);
    const declared = reservationLapsed({
      ...shared,
      kind: "case-number",
      dependants: view(
        `select reservation_id as key, id as text from app.cases where status = 'NUMBER_RESERVED'`,
      ),
      resolve: mend(`update app.cases set status = 'CANCELLED' where reservation_id = $1`),
    });
    expect(await reconcile(database, declared)).toMatchObject({ found: 0 });
    await kit.advance(30 * 60_000);
    await injectedFoundRepaired(declared, id);
    expect(await query(`select status from ${kit.schema}.cases where id = 'c5'`)).toEqual([
      { status: "CANCELLED" },
    ]);
  });

  test("R-13 R-04 a call that the provider made and the ledger lost is recorded; one that it does not list goes to a person", async () => {
    const { database } = kit.platform;
    const bank = provider({ name: "bank", timeout: "50ms", reconcile: { charge: "manual" } });
    const charge = (key: string) =>
      effect(
        { database },
        { provider: bank, operation: "charge", key, request: {} },
        () => new Promise<never>(() => undefined),
      ).catch(() => undefined);
    await charge("p1");
    const row = await findEffect(database, { provider: "bank", operation: "charge", key: "p1" });
    const report = async () => new Map([["p1", { response: { receipt: "r1" }, reference: "r1" }]]);
    const declared = effectUnrecorded({ ...shared, provider: bank, operation: "charge", report });
    await injectedFoundRepaired(declared, row!.id);
    expect(await findEffect(database, { provider: "bank", operation: "charge", key: "p1" })).toMatchObject({
      state: "succeeded",
      reference: "r1",
      response: '{"receipt":"r1"}',
    });
    await charge("p2");
    expect((await reconcile(database, declared)).added).toMatchObject([
      { state: "manual", source: "the provider does not list it" },
    ]);
  });

  test("R-16 repairs are counted by the type of anomaly", async () => {
    expect(await repairsByAnomaly(kit.platform.database)).toEqual(
      [
        "callback_lost",
        "effect_unrecorded",
        "outbox_stuck",
        "reservation_lapsed",
        "status_stale",
        "workflow_missing",
      ].map((anomaly) => ({ anomaly, count: 1 })),
    );
  });
});

describe("what a person decides", () => {
  const declared = (
    name: string,
    views: { source: Record<string, string>; derived: Record<string, string> },
    repairing = true,
  ) =>
    reconciliation({
      name,
      invariant: "the index has every document",
      anomaly: "index_stale",
      ...shared,
      source: async () => new Map(Object.entries(views.source)),
      derived: async () => new Map(Object.entries(views.derived)),
      ...(repairing && {
        repair: async (_: Tx, { key, source }: Difference) =>
          void (source === undefined ? delete views.derived[key] : (views.derived[key] = source)),
      }),
    });

  test("R-05 R-06 a missing and an orphaned entry are two discrepancies", async () => {
    const views = { source: { a: "1", b: "2" }, derived: { b: "2", c: "3" } };
    const report = await reconcile(kit.platform.database, declared("index", views));
    expect(report.added.map(({ key, source, derived }) => [key, source, derived])).toEqual([
      ["a", "1", null],
      ["c", null, "3"],
    ]);
  });

  test("R-17 where nothing can be repaired a person dismisses it, with name and reason", async () => {
    const { database } = kit.platform;
    const report = await reconcile(
      database,
      declared("report only", { source: { a: "1" }, derived: {} }, false),
    );
    const { id } = report.added[0]!;
    await expect(approveRepair(database, id, decision)).rejects.toMatchObject({
      code: "TUNTAS_DISCREPANCY_STATE",
    });
    await expect(dismiss(database, id, { by: "", reason: "x" })).rejects.toMatchObject({
      code: "TUNTAS_REQUEST_INVALID",
    });
    expect(await dismiss(database, id, decision)).toMatchObject({ state: "dismissed", decidedBy: "ana" });
    expect(await standing(database, "report only")).toEqual([]);
  });

  test("R-18 many runs at once leave one discrepancy; one that has gone by itself is not repaired", async () => {
    const { database } = kit.platform;
    const views = { source: { a: "1" }, derived: {} as Record<string, string> };
    const index = declared("parallel", views);
    const reports = await Promise.all(Array.from({ length: 8 }, () => reconcile(database, index)));
    const added = reports.flatMap((report) => report.added);
    expect(added).toHaveLength(1);
    await approveRepair(database, added[0]!.id, decision);
    views.derived["a"] = "1";
    expect(await repair(database, index, added[0]!.id)).toBe("gone");
  });

  test("a repair that fails stays approved, and can be run again", async () => {
    const { database } = kit.platform;
    let broken = true;
    const failing = reconciliation({
      ...declared("failing", { source: { a: "1" }, derived: {} }).options,
      repair: async () => {
        if (broken) throw new Error("not now");
      },
    });
    const [found] = (await reconcile(database, failing)).added;
    await approveRepair(database, found!.id, decision);
    await expect(repair(database, failing, found!.id)).rejects.toThrow("not now");
    broken = false;
    expect(await repair(database, failing, found!.id)).toBe("repaired");
  });
});
