// Each shape of asynchronous work fails once, and nobody has to notice by himself: a metric tells of it, and an alarm.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { app, consumer, endpoint, poison, queue, start, stream, worker } from "../index.ts";
import { freeByHand, underLease } from "../ledger/index.ts";
import { add, Unavailable } from "../outbox/index.ts";
import { testPlatform, type TestPlatform } from "../testing/index.ts";
import { approval, workflow } from "../workflow/index.ts";
import { metricEntries } from "./catalogue.ts";

let kit: TestPlatform;
beforeAll(async () => {
  kit = await testPlatform();
});
afterAll(() => kit[Symbol.asyncDispose]());

const ada = { actor: "ada", reason: "to see it fail" };

/** A minute passes, looked at as often as in life. */
async function minute(): Promise<void> {
  for (let part = 0; part < 6; part++) {
    await kit.advance(10_000);
    await kit.platform.sample();
  }
}

/** Waits until the alarm has gone off for the subject; answers what it said. */
async function alarmOf(name: string, subject: string): Promise<string> {
  const { alarms } = kit.platform;
  const found = async () =>
    (await alarms.history({ name, subject })).find(({ state }) => state === "ALARM")?.reason;
  await expect
    .poll(() => minute().then(found), { interval: 20, message: `${name}: ${subject}` })
    .toBeDefined();
  return (await found())!;
}

/** What the metric came to in the series of these labels; that it is kept, an alarm can watch it. */
async function figureOf(name: string, labels: Record<string, string>): Promise<number> {
  expect(metricEntries.get(name), name).toMatchObject({ kept: true });
  const { series } = kit.platform;
  const toMs = (await series.nowMs()) + 10_000;
  const range = { fromMs: toMs - 3 * 86_400_000, toMs, stepMs: 900_000 };
  const found = await series.read({ name, labels, ...range });
  return Math.max(0, ...found.flatMap(({ points }) => points.map(({ max, sum }) => Math.max(max, sum))));
}

test("V-31 V-18 a queue: a message that dies", async () => {
  const of = queue("shape-queue", {
    message: z.object({}),
    deadLetter: { after: 1, owner: "orders-team", runbook: "runbooks/orders.md", retention: "14d" },
  });
  const work = worker(of, {
    idempotencyKey: "none",
    timeout: "5s",
    handle: () => poison({ code: "BAD" }),
  });
  await using running = await start(app({ of, work }), { platform: kit.platform });
  await of.send({});
  expect(await alarmOf("dead-letters", "shape-queue")).toContain("more than 0");
  expect(await figureOf("tuntas_queue_dead_letters", { queue: "shape-queue" })).toBe(1);
  const reports = await kit.platform.alarms.list();
  const report = reports.find(({ name, subject }) => name === "dead-letters" && subject === "shape-queue");
  expect(report).toMatchObject({ state: "ALARM", owner: "orders-team", runbook: "runbooks/orders.md" });
  await running.stop();
});

test("V-31 an endpoint that refuses for good: what is parked is its owner's", async () => {
  const server = createServer((_, response) => response.writeHead(422).end()).listen(0, "127.0.0.1");
  await once(server, "listening");
  const shapeEndpoint = endpoint("shape-endpoint", {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    timeout: "5s",
    retry: { refusals: 1, base: "1s", max: "1s" },
    permanentStatus: [422],
    owner: "partners-team",
    runbook: "runbooks/partner.md",
  });
  await using running = await start(app({ shapeEndpoint }), { platform: kit.platform });
  const { database, alarms } = kit.platform;
  await database.transaction((tx) => add(tx, { target: shapeEndpoint, payload: "{}" }));
  await alarmOf("outbox-parked", "kind=http, name=shape-endpoint");
  const report = (await alarms.list()).find(({ subject }) => subject === "kind=http, name=shape-endpoint");
  expect(report).toMatchObject({ state: "ALARM", owner: "partners-team", runbook: "runbooks/partner.md" });
  await running.stop();
  server.close();
});

test("V-31 a workflow: an execution that fails", async () => {
  const shapeFlow = workflow("shape-flow", {
    definition: { StartAt: "Fails", States: { Fails: { Type: "Fail", Error: "Broken" } } },
    tasks: {},
  });
  await using running = await start(app({ shapeFlow }), { platform: kit.platform });
  await shapeFlow.start({});
  await alarmOf("workflow-failed", "shape-flow");
  const labels = { workflow: "shape-flow", status: "FAILED" };
  expect(await figureOf("tuntas_workflow_executions_total", labels)).toBe(1);
  await running.stop();
});

test("V-20 V-31 an outbox: a target that is away; the alarm names the row that has waited longest", async () => {
  const { database, targets, waker } = kit.platform;
  const target = { kind: "http", name: "crm" };
  const unbind = targets.bind(target, { deliver: () => Promise.reject(new Unavailable("it is away")) });
  const first = await database.transaction((tx) => add(tx, { target, payload: "{}" }));
  await database.transaction((tx) => add(tx, { target, payload: "{}" }));
  waker.wakeAll();
  expect(await alarmOf("outbox-old", "kind=http, name=crm")).toContain(`the first is ${first.id}`);
  expect(await figureOf("tuntas_outbox_oldest_age_seconds", target)).toBeGreaterThan(60);
  expect(await figureOf("tuntas_outbox_rows", { ...target, state: "waiting" })).toBe(2);
  unbind();
});

const waits = (Resource: string) => ({
  StartAt: "Waits",
  States: {
    Waits: {
      Type: "Task",
      Resource: `${Resource}.waitForTaskToken`,
      Parameters: { FunctionName: "ask", "Payload.$": "$" },
      End: true,
    },
  },
});

test("V-22 V-31 an execution that waits past the limit for an answer is named by the alarm, the oldest first", async () => {
  const shapeWait = workflow("shape-wait", {
    definition: waits("arn:aws:states:::lambda:invoke"),
    tasks: { ask: () => undefined },
  });
  await using running = await start(app({ shapeWait }), { platform: kit.platform });
  const { arn } = await shapeWait.start({});
  await kit.advance(3_600_000);
  await shapeWait.start({});
  await minute();
  await kit.advance(24 * 3_600_000);
  const reason = await alarmOf("callback-overdue", "shape-wait");
  expect(reason).toContain(`the first is ${arn}`);
  expect(
    await figureOf("tuntas_workflow_callback_wait_age_seconds", { workflow: "shape-wait" }),
  ).toBeGreaterThan(86_400);
  await running.stop();
});

test("V-22 V-31 an approval that nobody decides in time is named with its execution", async () => {
  const ask = approval({
    request: () => ({
      subject: "Refund of 12.00",
      requestedBy: "rizal",
      deciders: { people: ["dewi"] },
      evidence: {},
      due: "1h" as const,
      expires: "7d" as const,
    }),
  });
  const shapeAsk = workflow("shape-ask", {
    definition: waits("arn:aws:states:::lambda:invoke"),
    tasks: { ask },
  });
  await using running = await start(app({ shapeAsk }), { platform: kit.platform });
  const { arn } = await shapeAsk.start({});
  await expect.poll(() => kit.platform.workflows.approvals.list()).toHaveLength(1);
  await kit.advance(2 * 3_600_000);
  const reason = await alarmOf("approval-overdue", "task=Waits, workflow=shape-ask");
  expect(reason).toContain(`the first is Refund of 12.00 (${arn})`);
  expect(await figureOf("tuntas_approvals_overdue", { workflow: "shape-ask" })).toBe(1);
  await running.stop();
});

test("V-04 V-31 Y-08 Y-12 a stream: a consumer that stands still falls behind; a key that has nearly all records is named", async () => {
  const of = stream("shape-stream", {
    record: z.object({ n: z.number() }),
    partitions: 2,
    key: "customer id",
    retention: "7d",
    owner: "orders-team",
    runbook: "runbooks/streams.md",
  });
  const reader = consumer(of, {
    name: "reader",
    from: "start",
    batch: 10,
    onBadRecord: "stop",
    retry: { attempts: 1 },
    timeout: "20s",
    lagWithin: "30s",
    handle: () => poison({ code: "BAD" }),
  });
  await using running = await start(app({ of, reader }), { platform: kit.platform });
  const appendSome = () => Promise.all([...Array(60).keys()].map((n) => of.append({ n }, { key: "acme" })));
  await appendSome();
  expect(await alarmOf("stream-stopped", "consumer=reader, stream=shape-stream")).toContain("more than 0");
  expect(await alarmOf("stream-behind", "consumer=reader, stream=shape-stream")).toContain("more than 0");
  const reports = await kit.platform.alarms.list();
  expect(reports.find(({ name }) => name === "stream-behind")).toMatchObject({
    owner: "orders-team",
  });
  const labels = {
    stream: "shape-stream",
    consumer: "reader",
    partition: String((await of.append({ n: 1 }, { key: "acme" })).partition),
  };
  expect(await figureOf("tuntas_stream_lag_records", labels)).toBe(60);
  expect(await figureOf("tuntas_stream_lag_seconds", labels)).toBeGreaterThan(30);
  expect(await figureOf("tuntas_stream_checkpoint_age_seconds", labels)).toBeGreaterThan(30);
  await appendSome();
  await kit.platform.sample();
  const hot = { stream: "shape-stream", partition: labels.partition, key: "acme" };
  expect(await figureOf("tuntas_stream_hot_partition", hot)).toBeGreaterThan(1.9);
  expect(await kit.platform.streams.hot("shape-stream")).toMatchObject([
    { partition: Number(labels.partition), key: "acme" },
  ]);
  await running.stop();
});

test("V-31 a lease: an owner that loses it while it works", async () => {
  const { database } = kit.platform;
  const options = { name: "shape-lease", owner: "worker-1", lease: "1s" } as const;
  const lost = underLease(database, options, async ({ signal }) => {
    await freeByHand(database, "shape-lease", { by: "ada", reason: "to see it lost" });
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    signal.throwIfAborted();
  });
  await expect(lost).rejects.toMatchObject({ code: "TUNTAS_LEASE_LOST" });
  await alarmOf("lease-lost", "shape-lease");
  expect(await figureOf("tuntas_leases_lost_total", { name: "shape-lease" })).toBe(1);
});

test("V-31 an operation that cannot go on", async () => {
  const { operations } = kit.platform;
  const kind = `shape-${randomUUID().slice(0, 8)}`;
  operations.register({
    name: kind,
    survey: async (selection: object) => ({ selection, count: 1, forbidden: [], sample: [] }),
    page: async (_: object, after: string | null) => ({
      items: after === null ? [{ item: "one", cursor: "1" }] : [],
      end: true,
    }),
    apply: () => Promise.reject(new Error("the other side is gone")),
  });
  const { operation } = await operations.start({ kind, selection: {}, ...ada });
  expect(await operations.settled(operation.id)).toMatchObject({ state: "failed" });
  await alarmOf("operation-failed", kind);
  expect(await figureOf("tuntas_operations_total", { kind, state: "failed" })).toBe(1);
});
