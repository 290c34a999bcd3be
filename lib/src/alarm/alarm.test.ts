import { createServer } from "node:http";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { app, start } from "../index.ts";
import { defaultScope } from "../queue/contract.ts";
import { testPlatform, type TestPlatform } from "../testing/index.ts";
import { alarm, shippedAlarms, suggestForBacklog, type AlarmAnnouncement } from "./index.ts";

let kit: TestPlatform;
beforeAll(async () => {
  kit = await testPlatform();
});
afterAll(() => kit[Symbol.asyncDispose]());

const by = { actor: "test", from: "command line" };
const patient = { interval: 50 };

/** Lets a minute pass, looked at as often as in life. */
async function minute(): Promise<void> {
  for (let part = 0; part < 6; part++) {
    await kit.advance(10_000);
    await kit.platform.sample();
  }
}

const stateOf = async (name: string, subject: string) =>
  (await kit.platform.alarms.list()).find((each) => each.name === name && each.subject === subject);

test("V-16: an alarm without owner or runbook does not compile, and is refused at run time", () => {
  const whole = {
    metric: { name: "tuntas_queue_depth" },
    when: { above: 1 },
    of: [1, 1],
    missing: "ignore",
    owner: "orders-team",
    runbook: "runbooks/orders.md",
    notify: [],
  } as const;
  expect(alarm("orders-deep", whole).name).toBe("orders-deep");
  const { owner: _owner, ...ownerless } = whole;
  const { runbook: _runbook, ...bookless } = whole;
  const refused = { code: "TUNTAS_ALARM_OPTIONS" };
  // @ts-expect-error owner is required
  expect(() => alarm("orders-deep", ownerless)).toThrow(expect.objectContaining(refused));
  // @ts-expect-error runbook is required
  expect(() => alarm("orders-deep", bookless)).toThrow(expect.objectContaining(refused));
  for (const wrong of [
    { ...whole, of: [3, 2] as const },
    { ...whole, period: "7s" as const },
    { ...whole, runbook: " " },
    { ...whole, notify: [{ webhook: "nowhere" }] },
    { ...whole, when: { above: NaN } },
  ])
    expect(() => alarm("orders-deep", wrong)).toThrow(expect.objectContaining(refused));
});

test("V-15: the shipped alarms each have a bound, periods, a severity and a runbook", () => {
  expect(shippedAlarms.length).toBeGreaterThan(12);
  for (const { options } of shippedAlarms) {
    expect(options.runbook).toMatch(/^docs\/operate\/runbooks\.md#/);
    expect(options.severity).toMatch(/page|ticket/);
  }
});

test("V-17: a figure that nobody looked at is not known, which is not 0, and speaks for nothing", async () => {
  const { queues, alarms } = kit.platform;
  await queues.catalog.create(defaultScope, "unseen", {});
  await kit.platform.sample();
  const ages = async () => (await alarms.runbook("oldest-message", "unseen")).checks[0];
  expect(await ages()).toMatchObject({ value: 0, detail: [] });
  await kit.advance(600_000);
  const gap = `insert into ${kit.schema}.series_mark (kind, at, until, subject, text)
    select 'gap', now - interval '9 minutes', now + interval '1 minute', 'sampling', 'nobody looked'
    from ${kit.schema}.now() now`;
  await kit.platform.database.transaction(({ client }) => client.query(gap));
  expect(await ages()).toMatchObject({ value: null, detail: [expect.stringContaining("nobody looked")] });
  expect((await alarms.runbook("oldest-message", "unseen")).suggestion).toBeNull();
});

test("V-17 V-18 V-21: a queue that nobody works on is in alarm, by its own name; the alarm ends when it is empty", async () => {
  const { queues, alarms } = kit.platform;
  const { queue } = await queues.catalog.create(defaultScope, "left-alone", {});
  await queues.sender.send(queue, { messageId: crypto.randomUUID(), body: "x" }, defaultScope.account);
  await expect
    .poll(() =>
      kit.platform.sample().then(async () => (await stateOf("oldest-message", "left-alone"))?.state),
    )
    .toBe("OK");
  for (let count = 0; count < 12; count++) await minute();
  expect(await stateOf("oldest-message", "left-alone")).toMatchObject({
    state: "ALARM",
    source: "shipped",
    owner: "none",
  });
  expect(await stateOf("worker-silent", "left-alone")).toMatchObject({ state: "ALARM" });
  const { checks, suggestion } = await alarms.runbook("oldest-message", "left-alone");
  expect(checks[0]).toMatchObject({ number: 1, text: "How old is the oldest message?", unit: "s" });
  expect(checks[0]!.value).toBeGreaterThan(600);
  expect(suggestion).toContain("start a worker");
  await queues.catalog.purge(queue);
  await expect
    .poll(async () => {
      await minute();
      return (await stateOf("oldest-message", "left-alone"))?.state;
    }, patient)
    .toBe("OK");
  const history = await alarms.history({ name: "oldest-message", subject: "left-alone" });
  expect(history.map(({ previous, state, test: trial }) => [previous, state, trial])).toEqual([
    ["ALARM", "OK", false],
    ["OK", "ALARM", false],
  ]);
});

test("V-15: of dead letters their own alarm tells, and not each that watches for workers, while nobody works on them", async () => {
  const { queues } = kit.platform;
  const { queue } = await queues.catalog.create(defaultScope, "burnt-dlq", {});
  await queues.catalog.create(defaultScope, "burnt", { deadLetterName: "burnt-dlq", receivesMax: 3 });
  await queues.sender.send(queue, { messageId: crypto.randomUUID(), body: "x" }, defaultScope.account);
  await expect
    .poll(() => kit.platform.sample().then(async () => (await stateOf("dead-letters", "burnt"))?.state))
    .toBe("OK");
  for (let count = 0; count < 12; count++) await minute();
  expect(await stateOf("dead-letters", "burnt")).toMatchObject({ state: "ALARM" });
  for (const name of ["oldest-message", "worker-silent", "worker-missing"])
    expect(await stateOf(name, "burnt-dlq")).toMatchObject({ state: "OK" });
});

async function receiver() {
  const got: { key: string | undefined; body: AlarmAnnouncement }[] = [];
  let failures = 1;
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (data: Buffer) => (text += data.toString()));
    request.on("end", () => {
      response.statusCode = failures-- > 0 ? 503 : 204;
      if (response.statusCode === 204)
        got.push({
          key: request.headers["idempotency-key"] as string,
          body: JSON.parse(text) as AlarmAnnouncement,
        });
      response.end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    got,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () => server.close(),
  };
}

test("a declared alarm tells its webhook and its command after the commit, and a trial goes the same way", async () => {
  const hook = await receiver();
  const folder = await mkdtemp(join(tmpdir(), "tuntas-alarm-"));
  const file = join(folder, "told");
  const deep = alarm("orders-deep", {
    metric: { name: "tuntas_queue_depth", labels: { state: "ready", queue: "deep" }, statistic: "last" },
    when: { atLeast: 2 },
    of: [1, 1],
    missing: "notBreaching",
    period: "10s",
    owner: "orders-team",
    runbook: "runbooks/orders.md",
    notify: [{ webhook: hook.url }, { command: ["/bin/sh", "-c", `cat > ${file}`] }],
    checks: [
      {
        text: "How deep is it?",
        metric: { name: "tuntas_queue_depth", labels: { queue: "deep", state: "ready" } },
      },
    ],
  });
  await using running = await start(app({ deep }), { platform: kit.platform });
  const { alarms, queues } = running.platform;
  const ids = await alarms.test("orders-deep", { ...by, reason: "to see" });
  expect(ids).toHaveLength(2);
  await expect
    .poll(async () => (await alarms.deliveries(ids)).map(({ state }) => state), patient)
    .toEqual(["delivered", "delivered"]);
  expect(hook.got).toEqual([
    {
      key: expect.any(String),
      body: expect.objectContaining({ alarm: "orders-deep", test: true, state: "ALARM" }),
    },
  ]);
  expect(ids).toContain(hook.got[0]!.key);
  expect(JSON.parse(await readFile(file, "utf8"))).toMatchObject({
    alarm: "orders-deep",
    owner: "orders-team",
    test: true,
  });
  const { queue } = await queues.catalog.create(defaultScope, "deep", {});
  await Promise.all(
    ["a", "b", "c"].map((body) =>
      queues.sender.send(queue, { messageId: crypto.randomUUID(), body }, defaultScope.account),
    ),
  );
  await expect
    .poll(async () => {
      await kit.advance(10_000);
      await kit.platform.sample();
      return hook.got.length;
    }, patient)
    .toBe(2);
  expect(hook.got[1]!.body).toMatchObject({
    alarm: "orders-deep",
    state: "ALARM",
    previous: "OK",
    value: 3,
    owner: "orders-team",
    runbook: "runbooks/orders.md",
    test: false,
  });
  hook.close();
  await rm(folder, { recursive: true });
});

test("what the figures of a backlog speak for", () => {
  const calm = {
    done: 100,
    failed: 0,
    deadLetters: 0,
    processes: 2,
    paused: false,
    received: 100,
    changes: [],
  };
  expect(suggestForBacklog(calm)).toContain("scale out");
  expect(suggestForBacklog({ ...calm, paused: true })).toContain("resume");
  expect(suggestForBacklog({ ...calm, processes: 0 })).toContain("start a worker");
  expect(suggestForBacklog({ ...calm, received: 0 })).toContain("take nothing");
  expect(suggestForBacklog({ ...calm, failed: 200 })).toContain("throttle");
  expect(suggestForBacklog({ ...calm, failed: 200, changes: ["v2"] })).toContain("roll it back");
  expect(suggestForBacklog({ ...calm, failed: 5, deadLetters: 500 })).toContain("Poison dominates");
});
