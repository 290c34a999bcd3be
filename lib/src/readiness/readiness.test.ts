// The checklists: what is declared and what is broken of it, what a living service answers, what people have said and when.
import { afterEach, expect, test } from "vitest";
import { z } from "zod";
import { app, start } from "../app.ts";
import { gather } from "../check/index.ts";
import { provider } from "../ledger/index.ts";
import { command } from "../operation/command/declaration.ts";
import { queue, worker } from "../queue/declaration.ts";
import { service, type Scaling } from "../service/index.ts";
import { ada, openStage, web } from "../service/stage.fixture.ts";
import { task, workflow } from "../workflow/declaration.ts";
import { checklists, readFacts, readiness, type Facts, type Line } from "./index.ts";
import { findingsOf } from "./facts.ts";
import { askable } from "./lists/index.ts";

const answeredSince = "2026-06-01";
const message = z.object({ id: z.string() });
const deadLetter = {
  after: 5,
  owner: "orders-team",
  runbook: "https://run.example/orders",
  retention: "14d",
} as const;

function declare({ key = true, safePerSecond = 50, versioned = true } = {}) {
  const orders = queue("orders", {
    message,
    visibilityTimeout: "60s",
    deadLetter,
    ...(versioned && { versions: [1] }),
  });
  const working = worker(orders, {
    idempotencyKey: key ? ({ id }) => id : () => "same",
    timeout: "20s",
    handle: () => undefined,
  });
  const downstream = { name: "bank", safePerSecond, perInstance: 5, slowAbove: "1s" } as const;
  const scaling: Scaling = {
    min: 1,
    max: 4,
    target: { queue: orders, backlogPerInstance: 9, oldestAge: "2m", downstream },
    scaleOutCooldown: "30s",
    scaleInCooldown: "5m",
  };
  const bank = provider({ name: "bank", timeout: "5s", reconcile: {}, callsPerSecond: 100 });
  const consuming = web("consuming", { kind: "consumer-group", scaling });
  const door = web("door", { count: 2 });
  const approve = workflow("Approve", {
    definition: {
      StartAt: "Pay",
      States: { Pay: { Type: "Task", Resource: "pay", TimeoutSeconds: 30, End: true } },
    },
    tasks: { pay: task({ idempotent: true, handle: () => null }) },
  });
  return { orders, working, bank, consuming, door, approve };
}

function factsOf(exports: Record<string, unknown>, more: Partial<Facts> = {}): Facts {
  const declared = gather([{ file: "/nowhere.mjs", exports }]);
  const findings = findingsOf(declared);
  const nothing = {
    services: new Map(),
    alarms: [],
    commands: new Map(),
    drills: [],
    examined: [],
    answers: [],
  };
  return { ...nothing, declared, findings, answeredSince, ...more };
}

const linesOf = (facts: Facts, list: string): readonly Line[] =>
  checklists(facts).find((each) => each.list === list)!.lines;
const lineOf = (facts: Facts, list: string, id: string): Line =>
  linesOf(facts, list).find((line) => line.id === id)!;

test("L-12 L-13 L-14 L-15: the lists have as many items as their sources, each with what was looked at or a question", () => {
  const all = checklists(factsOf(declare()));
  const counts = Object.fromEntries(all.map(({ list, lines }) => [list, lines.length]));
  expect(counts).toEqual({ api: 14, worker: 11, workflow: 14, platform: 11 });
  for (const { lines } of all) {
    expect(new Set(lines.map(({ id }) => id)).size).toBe(lines.length);
    for (const { status, looked, found, asks } of lines)
      if (status === "open") expect(asks).toMatch(/\?$/);
      else
        expect([looked, found, asks]).toEqual([expect.stringMatching(/./), expect.stringMatching(/./), null]);
  }
});

test("L-13: what tuntas check finds of a worker is not so; what is in order says by which figures", () => {
  const good = factsOf(declare(), {
    drills: [
      { drill: "poison", asExpected: false, startedAt: "2026-10-01T00:00:00Z" },
      { drill: "poison", asExpected: true, startedAt: "2026-11-01T00:00:00Z" },
    ],
  });
  expect(linesOf(good, "worker").map(({ id, status }) => [id, status])).toEqual([
    ...["idempotent", "visibility", "dead-letters", "poison", "age-alarm", "dead-letter-alarm"].map((id) => [
      id,
      "met",
    ]),
    ["scaling", "met"],
    ["downstream", "met"],
    ["shutdown", "met"],
    ["versions", "met"],
    ["replay", "open"],
  ]);
  expect(lineOf(good, "worker", "poison").found).toBe("poison on 2026-11-01, as expected");
  expect(lineOf(good, "worker", "visibility").found).toBe("visibility 60s, attempt 20s");
  const bad = factsOf(declare({ key: false, safePerSecond: 500, versioned: false }));
  expect(lineOf(bad, "worker", "idempotent")).toMatchObject({ status: "unmet" });
  expect(lineOf(bad, "worker", "downstream").found).toContain("500 calls a second are reserved");
  expect(lineOf(bad, "worker", "poison").found).toContain("tuntas drill poison");
  expect(lineOf(bad, "worker", "versions")).toMatchObject({ status: "open" });
});

test("what stops sooner than its work takes does not end in order", () => {
  const orders = queue("orders", { message, deadLetter });
  const slow = worker(orders, { idempotencyKey: ({ id }) => id, timeout: "60s", handle: () => undefined });
  expect(lineOf(factsOf({ orders, slow }), "worker", "shutdown")).toMatchObject({ status: "unmet" });
});

test("L-15: a workflow without reconciliation, and one whose tasks may be repeated", () => {
  const facts = factsOf(declare());
  expect(lineOf(facts, "workflow", "reconciliation")).toMatchObject({ status: "unmet" });
  expect(lineOf(facts, "workflow", "keys")).toMatchObject({ status: "met" });
  expect(lineOf(facts, "workflow", "tokens")).toMatchObject({ status: "met", found: "none" });
  expect(lineOf(facts, "workflow", "redrive")).toMatchObject({ status: "open" });
  expect(lineOf(facts, "workflow", "times")).toMatchObject({ status: "met" });
  const Resource = "arn:aws:states:::sqs:sendMessage.waitForTaskToken";
  const Arguments = {
    QueueUrl: "https://sqs.example/1/asks",
    MessageBody: "{% $states.context.Task.Token %}",
  };
  const definition = {
    StartAt: "Ask",
    States: { Ask: { Type: "Task", Resource, Arguments, End: true } },
  };
  const asking = factsOf({
    ask: workflow("Ask", { definition: { QueryLanguage: "JSONata", ...definition } }),
  });
  expect(lineOf(asking, "workflow", "times")).toMatchObject({
    status: "unmet",
    found: expect.stringContaining('"Ask"'),
  });
  expect(lineOf(asking, "workflow", "tokens")).toMatchObject({ status: "open", found: "Ask" });
});

test("people answer what no machine sees, for half a year; what a machine sees they cannot answer away", () => {
  const said = { answer: "a and b", by: "orders-team", on: "2026-11-01" };
  const door = readiness("api", {
    of: "door",
    answers: { zones: said, rollback: said, role: { ...said, on: "2026-05-01" } },
  });
  const facts = factsOf(declare(), { answers: [door] });
  expect(lineOf(facts, "api", "zones")).toMatchObject({
    status: "answered",
    looked: "orders-team, 2026-11-01",
    found: "a and b",
  });
  expect(lineOf(facts, "api", "role")).toMatchObject({
    status: "open",
    asks: expect.stringContaining("half a year"),
  });
  expect(lineOf(facts, "api", "rollback")).toMatchObject({ status: "unmet" });
  const wrong = (answers: Record<string, unknown>) => () =>
    readiness("api", { of: "door", answers: answers as {} });
  expect(wrong({ zone: said })).toThrow(/zone: expected one of instances, zones/);
  expect(wrong({ zones: { ...said, on: "soon" } })).toThrow(/zones\.on: expected a day such as/);
  expect(wrong({ zones: { ...said, by: " " } })).toThrow(/zones\.by: expected who stands for it/);
});

test("with all answered it is ready", () => {
  const said = { answer: "yes", by: "platform-team", on: "2026-11-30" };
  const answers = Object.fromEntries(askable("platform").map((id) => [id, said]));
  const alarms = [{ name: "dead-letters", runbook: "docs/runbooks.md" }] as unknown as Facts["alarms"];
  const facts = factsOf({}, { answers: [readiness("platform", { answers })], alarms });
  expect(checklists(facts)).toMatchObject([{ list: "platform", ready: true }]);
});

const stage = openStage();
afterEach(async () => {
  if ((await stage.kit.platform.services.list()).some(({ name, active }) => active && name === "door"))
    await stage.kit.platform.services.stop("door", ada);
});

test("L-12 L-16: a running service is asked, and a command by its own checklist", async () => {
  const { platform } = stage.kit;
  const repair = command("repair", {
    does: "Repairs.",
    purpose: "data repair",
    scope: "one case",
    arguments: {},
    run: () => ({ recordsRead: 0, recordsWritten: 0 }),
    databaseRole: "nobody_has_made_it",
    mayRun: { admin: "any" },
    timeout: "1m",
    destructive: false,
    rollback: "nothing to undo",
    success: { measure: "none", check: () => [] },
    twice: "it finds nothing to do",
    owner: "case-team",
    runbook: "https://run.example/repair",
  });
  await using _ = await start(app({ repair }), { platform });
  const door = service("door", {
    ...web("door", { count: 2 }).options,
    version: "abc",
    environment: { MISBEHAVIOUR: "", API_TOKEN: "written down" },
  });
  await stage.deploy(door, stage.control());
  const declared = gather([{ file: "/nowhere.mjs", exports: { door, repair } }]);
  const facts = await readFacts(platform, { declared, answers: [], drills: [], examined: [] });
  expect(lineOf(facts, "api", "instances")).toMatchObject({
    status: "met",
    found: "at least 2, 2 healthy now",
  });
  expect(lineOf(facts, "api", "readiness")).toMatchObject({
    status: "met",
    looked: expect.stringMatching(/^GET http:\/\/127\.0\.0\.1:\d+\/readyz$/),
    found: "200",
  });
  expect(lineOf(facts, "api", "logs")).toMatchObject({
    status: "unmet",
    found: expect.stringContaining("not"),
  });
  expect(lineOf(facts, "api", "secrets")).toMatchObject({
    status: "unmet",
    found: expect.stringContaining("API_TOKEN"),
  });
  expect(lineOf(facts, "platform", "digests")).toMatchObject({ status: "met", found: "door abc" });
  const lines = linesOf(facts, "command");
  expect(lines).toHaveLength(10);
  expect(lines.some(({ status }) => status === "unmet")).toBe(true);
  expect(checklists(factsOf({ repair }))[0]!.lines).toMatchObject([{ status: "unmet" }]);
}, 240_000);
