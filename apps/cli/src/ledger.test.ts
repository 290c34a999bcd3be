// The commands upon outbox and ledger, as a person uses them: look, act with a reason, find it on the record.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { claimLease, compensation, effect, provider, registerCompensation, reserve } from "tuntas/ledger";
import { add } from "tuntas/outbox";
import { household, type Household } from "./household.fixture.ts";

const cache = fileURLToPath(new URL("../../../node_modules/.cache/", import.meta.url));
mkdirSync(cache, { recursive: true });
const folder = mkdtempSync(join(cache, "ledger-"));
const file = join(folder, "app.mjs");

const application = `import { app } from "tuntas";
import { provider, reconciliation } from "tuntas/ledger";
export const bank = provider({ name: "bank", timeout: "20ms", arrivesWithin: "1ms", reconcile: {
  charge: async ({ key }) => key === "lost" ? { state: "succeeded", response: { id: "ch_1" }, reference: "ch_1" } : { state: "unknown" },
} });
export const cases = reconciliation({
  name: "cases-started", invariant: "every case has an execution", anomaly: "workflow_missing", owner: "cases-team",
  of: { kind: "workflow", name: "CaseActivation" }, every: "1h",
  source: async (sql) => sql.transaction(async (tx) => new Map((await tx.client.query("select id from cases")).rows.map(({ id }) => [id, "APPROVED"]))),
  derived: async (sql) => sql.transaction(async (tx) => new Map((await tx.client.query("select id from started")).rows.map(({ id }) => [id, "APPROVED"]))),
  repair: async (tx, { key }) => void (await tx.client.query("insert into started values ($1)", [key])),
});
export default app({ bank, cases });
`;

// Every line is a process of its own, and takes seconds where the machine is busy.
vi.setConfig({ testTimeout: 240_000 });

let home: Household;
let client: pg.Client;

beforeAll(async () => {
  writeFileSync(file, application);
  home = await household();
  await home.run(["queue", "list"]); // brings the schema
  client = new pg.Client({ connectionString: home.url });
  await client.connect();
}, 120_000);
afterAll(async () => {
  await client.end();
  await home[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

const recorded = async (action: string) =>
  (
    await client.query(
      "select actor, subject, reason, details from tuntas.audit where action = $1 order by id",
      [action],
    )
  ).rows;

const act = ["--reason", "see ticket 7", "--actor", "ada"];

test("G-10 G-11 outbox: what is parked is listed with its failure, shown, put back or given up, on the record", async () => {
  await client.query("begin");
  const target = { kind: "http", name: "search" };
  const { id } = await add(client, { target, key: "o1", type: "OrderPlaced", payload: '{"orderId":"o1"}' });
  const other = await add(client, { target, payload: "{}" });
  await client.query(
    "update tuntas.outbox set parked_at = now(), refusals = 10, failure_code = 'BAD', failure_message = 'no such field'",
  );
  await client.query("commit");

  const { status, document } = await home.json(["outbox", "list"]);
  expect(status).toBe(1);
  expect(document).toMatchObject({
    targets: [{ target, waiting: 0, parked: 2 }],
    rows: [{ id, key: "o1", state: "parked", refusals: 10, failureCode: "BAD" }, { id: other.id }],
  });
  expect((await home.run(["outbox", "show", id])).stdout).toContain('{"orderId":"o1"}');
  expect(await home.run(["outbox", "retry"])).toMatchObject({
    status: 2,
    stderr: expect.stringContaining("--all"),
  });
  expect(await home.run(["outbox", "retry", id])).toMatchObject({
    status: 2,
    stderr: expect.stringContaining("--reason"),
  });
  expect(await home.json(["outbox", "retry", id, ...act])).toMatchObject({
    status: 0,
    document: { count: 1 },
  });
  expect(await recorded("outbox.retry")).toMatchObject([{ actor: "ada", reason: "see ticket 7" }]);

  expect((await home.run(["outbox", "discard", id, ...act, "--yes"])).stderr).toContain("TUNTAS_OUTBOX_ROW");
  expect((await home.run(["outbox", "discard", other.id, ...act])).stderr).toContain("--yes");
  expect((await home.json(["outbox", "discard", other.id, ...act, "--yes"])).status).toBe(0);
  expect(await recorded("outbox.discard")).toMatchObject([
    { subject: "outbox http:search", details: expect.stringContaining(other.eventId) },
  ]);
  expect((await home.json(["outbox", "list"])).document.rows).toMatchObject([{ id, state: "waiting" }]);
});

test("G-17 R-13 effect: an unknown call is listed, shown, settled by the provider's word or by a person's", async () => {
  const bank = provider({ name: "bank", timeout: "20ms", reconcile: { charge: "manual" } });
  const database = {
    run: async (statement: { text: string }, values?: readonly unknown[]) =>
      (await client.query(statement.text, values as unknown[])).rows,
  };
  for (const key of ["lost", "dark"]) {
    const charge = {
      provider: bank,
      operation: "charge",
      key,
      request: { amount: 5 },
      subject: `order ${key}`,
    };
    await effect({ database: database as never }, charge, () => new Promise(() => undefined)).catch(
      () => undefined,
    );
  }
  const { status, document } = await home.json(["effect", "list"]);
  expect(status).toBe(1);
  const [dark, lost] = document as { id: string }[];
  expect(document).toMatchObject([
    { key: "dark", state: "unknown" },
    { key: "lost", subject: "order lost" },
  ]);
  expect((await home.run(["effect", "show", dark!.id])).stdout).toContain('{"amount":5}');

  expect(await home.json(["effect", "ask", lost!.id, file, ...act])).toMatchObject({
    status: 0,
    document: { status: "settled", row: { state: "succeeded", reference: "ch_1" } },
  });
  expect(await home.json(["effect", "ask", dark!.id, file, ...act])).toMatchObject({
    status: 1,
    document: { status: "unknown" },
  });
  expect((await home.run(["effect", "settle", dark!.id, "--as", "maybe", ...act])).status).toBe(2);
  expect(await home.json(["effect", "settle", dark!.id, "--as", "absent", ...act])).toMatchObject({
    status: 0,
    document: { state: "failed", failureCode: "TUNTAS_EFFECT_ABSENT" },
  });
  expect((await home.run(["effect", "settle", dark!.id, "--as", "absent", ...act])).stderr).toContain(
    "TUNTAS_EFFECT_CONFLICT",
  );
  expect(await home.json(["effect", "list"])).toEqual({ status: 0, document: [] });
  expect(await recorded("effect.ask")).toHaveLength(2);
  expect(await recorded("effect.settle")).toMatchObject([
    { actor: "ada", subject: `effect ${dark!.id}`, reason: "see ticket 7" },
  ]);
});

test("G-24 G-27 reservation and lease: who holds what, and giving it back with a reason", async () => {
  await client.query("begin");
  const made = await reserve(client, {
    kind: "case-number",
    resource: "N-1",
    holder: "c1",
    expiresIn: "30m",
  });
  await client.query("commit");
  const id = made.status === "conflict" ? "" : made.reservation.id;
  await claimLease(client, { name: "duplicates of c1", owner: "host-1", lease: "10m" });

  expect((await home.json(["reservation", "list", "--kind", "case-number"])).document).toMatchObject([
    { id, holder: "c1", state: "reserved" },
  ]);
  expect((await home.json(["reservation", "list", "--overdue"])).document).toEqual([]);
  expect((await home.json(["reservation", "release", id, ...act])).document).toMatchObject({
    status: "released",
  });
  expect((await home.json(["reservation", "release", id, ...act])).document).toMatchObject({
    status: "unchanged",
  });
  expect(await recorded("reservation.release")).toHaveLength(2);

  expect((await home.run(["lease", "list"])).stdout).toMatch(/duplicates of c1\s+running\s+host-1/);
  expect((await home.json(["lease", "free", "duplicates of c1", ...act, "--yes"])).document).toMatchObject({
    owner: "host-1",
  });
  expect((await home.run(["lease", "free", "duplicates of c1", ...act, "--yes"])).stderr).toContain(
    "TUNTAS_LEASE_STATE",
  );
  expect(await claimLease(client, { name: "duplicates of c1", owner: "host-2" })).toMatchObject({
    status: "claimed",
  });
});

test("R-01 R-02 R-15 reconcile and discrepancy: run, approve, repair once; each decision has a name and a reason", async () => {
  await client.query("create table cases (id text primary key); create table started (id text primary key)");
  await client.query("insert into cases values ('c1'), ('c2')");
  const { status, document } = await home.json(["reconcile", "run", file]);
  expect(status).toBe(1);
  expect(document).toMatchObject([{ name: "cases-started", compared: 2, found: 2 }]);
  const [first, second] = (await home.json(["discrepancy", "list"])).document as { id: string }[];
  expect((await home.run(["discrepancy", "repair", first!.id, file])).stderr).toContain(
    "TUNTAS_REPAIR_UNAPPROVED",
  );
  expect((await home.json(["discrepancy", "approve", first!.id, ...act])).document).toMatchObject({
    state: "approved",
    decidedBy: "ada",
  });
  expect(
    (await home.json(["discrepancy", "repair", first!.id, file, "--actor", "bob"])).document,
  ).toMatchObject({ status: "repaired" });
  await home.run(["discrepancy", "dismiss", second!.id, ...act]);
  expect((await home.run(["discrepancy", "show", second!.id])).stdout).toMatch(/state\s+dismissed/);
  expect((await client.query("select id from started")).rows).toEqual([{ id: "c1" }]);
  expect(await home.json(["discrepancy", "list"])).toEqual({ status: 0, document: [] });
  expect((await home.json(["reconcile", "list", "--runs", "cases-started"])).document).toMatchObject([
    { compared: 2, found: 2 },
  ]);
  expect((await home.run(["reconcile", "run", file, "nothing"])).stderr).toContain(
    "it declares cases-started",
  );
  expect(await recorded("discrepancy.repair")).toMatchObject([
    { actor: "bob", subject: `discrepancy ${first!.id}` },
  ]);
});

test("P-37 compensation: a parked undo is listed with its failure, and put back or settled with a reason", async () => {
  const undo = compensation({ name: "refund", undo: async () => undefined });
  for (const key of ["a", "b"])
    await registerCompensation(client, undo, { work: "order o1", key, input: {} });
  await client.query(
    "update tuntas.compensation set state = 'parked', failure_code = 'TOO_OLD', failure_message = 'no refund'",
  );
  const { status, document } = await home.json(["compensation", "list"]);
  expect(status).toBe(1);
  const [second, first] = document as { id: string }[];
  expect(document).toMatchObject([{ key: "b", failureCode: "TOO_OLD" }, { key: "a" }]);
  expect((await home.json(["compensation", "settle", second!.id, ...act])).document).toMatchObject({
    state: "done",
    settledBy: "ada: see ticket 7",
  });
  expect((await home.json(["compensation", "retry", first!.id, ...act])).document).toMatchObject({
    state: "registered",
  });
  expect((await home.run(["compensation", "retry", first!.id, ...act])).stderr).toContain(
    "TUNTAS_COMPENSATION_STATE",
  );
  expect((await home.json(["compensation", "list", "--work", "order o1"])).status).toBe(0);
});
