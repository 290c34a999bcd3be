// Schedules as AWS's API arranges them, with real queues and the database's clock, which the tests move.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { statement } from "../../pg/database.ts";
import { defaultScope } from "../../queue/contract.ts";
import { testPlatform, type TestPlatform } from "../../testing/index.ts";
import type { Arrangement } from "../contract.ts";
import { schedule, type Schedules } from "../index.ts";
import { nameOf } from "../place.ts";
import { arranged } from "./arranged.fixture.ts";

let kit: TestPlatform;
let schedules: Schedules;
beforeAll(async () => {
  kit = await testPlatform();
  ({ schedules } = kit.platform);
});
afterAll(() => kit[Symbol.asyncDispose]());

const second = 1000;
const minute = 60 * second;
const day = 24 * 60 * minute;
const asker = { by: "aws", token: undefined };

const nowMs = async (): Promise<number> => {
  const now = statement("select extract(epoch from tuntas.now()) * 1000 as ms");
  return Number((await kit.platform.database.run(now))[0]!.ms);
};
const local = (ms: number): string => new Date(ms).toISOString().slice(0, 19);

const newQueue = async (name = `queue-${randomUUID()}`) => {
  await kit.platform.queues.catalog.create(defaultScope, name, {});
  return name;
};

async function bodiesOf(name: string) {
  const { catalog, receiver } = kit.platform.queues;
  const queue = await catalog.get(defaultScope, name);
  const got = await receiver.receive(queue, { countMax: 10, waitMs: 0, visibilitySeconds: 600 });
  return got.map(({ body, attributes }) => ({ body, attributes: JSON.parse(attributes ?? "{}") as object }));
}

const statesOf = async (of: Arrangement) =>
  (await schedules.occurrences(nameOf(of.place))).map(({ state }) => state).toReversed();

/** What is due stays due until somebody looks, so that a schedule is arranged and fired without a race for its instant. */
async function arrange(queue: string, more: Partial<Arrangement> = {}): Promise<Arrangement> {
  const of = arranged(queue, more);
  expect(await schedules.arrangements.create(of, asker)).toBe("created");
  await schedules.sweep();
  return of;
}

test("work that cannot be begun is tried again ever later, and begun once its queue is there", async () => {
  const queue = `late-${randomUUID()}`;
  const of = await arrange(queue, { expression: `rate(1 day)` });
  const [first] = await schedules.occurrences(nameOf(of.place));
  expect(first).toMatchObject({
    state: "waiting",
    reason: expect.stringContaining("does not exist"),
  });
  expect(first!.beginAtMs! - first!.decidedAtMs).toBeGreaterThanOrEqual(second / 2);
  for (let tries = 2; tries <= 4; tries++) {
    const [before] = await schedules.occurrences(nameOf(of.place));
    await kit.advance(Math.max(0, before!.beginAtMs! - (await nowMs())) + 1);
    const [after] = await schedules.occurrences(nameOf(of.place));
    expect(after!.tries).toBeGreaterThan(before!.tries);
  }
  await newQueue(queue);
  await kit.advance(10 * minute);
  await expect.poll(() => statesOf(of)).toEqual(["started"]);
  const [message] = await bodiesOf(queue);
  expect(message!.body).toBe(
    `${local(first!.dueMs)}Z try ${(await schedules.occurrences(nameOf(of.place)))[0]!.tries + 1}`,
  );
});

test("work that cannot be begun by its policy is given up, and its dead letter says why", async () => {
  const dead = await newQueue();
  const of = await arrange("nowhere", { expression: "rate(1 day)", retriesMax: 1, deadLetter: dead });
  await kit.advance(5 * second);
  await expect.poll(() => statesOf(of)).toEqual(["failed"]);
  const [letter] = await bodiesOf(dead);
  const text = (value: unknown) => ({ DataType: "String", StringValue: value });
  expect(letter).toMatchObject({
    body: expect.stringMatching(/ try 2$/),
    attributes: {
      ERROR_CODE: text("TUNTAS_QUEUE_MISSING"),
      EXHAUSTED_RETRY_CONDITION: text("MaximumRetryAttempts"),
      RETRY_ATTEMPTS: text("1"),
      SCHEDULE_ARN: text(`arn:aws:scheduler:us-east-1:000000000000:schedule/default/${of.place.name}`),
      TARGET_ARN: text("arn:aws:sqs:us-east-1:000000000000:nowhere"),
    },
  });
  expect((await schedules.occurrences(nameOf(of.place)))[0]).toMatchObject({
    reason: "TUNTAS_QUEUE_MISSING: queue nowhere does not exist",
    endedAtMs: expect.any(Number),
  });
});

test("what is too old to be tried is given up, and a dead letter that cannot be sent is on the record", async () => {
  const of = await arrange("nowhere", {
    expression: "rate(1 day)",
    retryWithinMs: minute,
    deadLetter: "nowhere-either",
  });
  await kit.advance(minute + second);
  await expect.poll(() => statesOf(of)).toEqual(["failed"]);
  const [occurrence] = await schedules.occurrences(nameOf(of.place));
  expect(occurrence!.reason).toMatch(
    /nowhere does not exist; its dead letter too: queue nowhere-either does not exist$/,
  );
});

test("once its target is put right, what waits goes there", async () => {
  const [of, queue] = [await arrange("nowhere", { expression: "rate(1 day)" }), await newQueue()];
  const right = { ...of, target: { kind: "queue", name: queue } };
  expect(await schedules.arrangements.change(right, asker)).toBe("changed");
  await kit.advance(10 * minute);
  await expect.poll(() => statesOf(of)).toEqual(["started"]);
  expect((await schedules.occurrences(nameOf(of.place)))[0]!.target).toEqual(right.target);
  expect(await bodiesOf(queue)).toHaveLength(1);
});

test("within a flexible window work begins at some time after it is due, also while the schedule is paused", async () => {
  const queue = await newQueue();
  const of = await arrange(queue, { expression: "rate(1 day)", flexibleMs: day });
  const [waiting] = await schedules.occurrences(nameOf(of.place));
  expect(waiting).toMatchObject({ state: "waiting", tries: 0 });
  expect(waiting!.beginAtMs! - waiting!.dueMs).toBeLessThan(day);
  await schedules.pause(nameOf(of.place), { by: "ana", reason: "a test" });
  await kit.advance(day);
  await expect.poll(() => statesOf(of)).toEqual(["started"]);
  expect((await bodiesOf(queue)).map(({ body }) => body)).toEqual([`${local(waiting!.dueMs)}Z try 1`]);
});

test("nothing is due before the start nor after the end, and then the schedule goes where it was told to", async () => {
  const queue = await newQueue();
  const startsMs = Math.floor((await nowMs()) / second) * second + 10 * minute;
  const of = await arrange(queue, { startsMs, endsMs: startsMs + 90 * second, afterwards: "remove" });
  expect(await schedules.find(nameOf(of.place))).toMatchObject({ nextDueMs: startsMs, owner: null });
  await kit.advance(startsMs - (await nowMs()));
  await kit.advance(minute);
  await expect.poll(() => schedules.arrangements.find(of.place)).toBeUndefined();
  expect((await bodiesOf(queue)).map(({ body }) => body)).toEqual([
    `${local(startsMs)}Z try 1`,
    `${local(startsMs + minute)}Z try 1`,
  ]);
});

test("a schedule that goes when it is over stays while its last work is still tried", async () => {
  const queue = `later-${randomUUID()}`;
  const at = (await nowMs()) + 2 * second;
  const of = await arrange(queue, { expression: `at(${local(at)})`, afterwards: "remove" });
  await kit.advance(2 * second);
  await expect.poll(() => statesOf(of)).toEqual(["waiting"]);
  await newQueue(queue);
  await kit.advance(10 * minute);
  await expect.poll(() => schedules.arrangements.find(of.place)).toBeUndefined();
  expect(await bodiesOf(queue)).toHaveLength(1);
});

test("the same request again is answered as before; its token is no other request's", async () => {
  const queue = await newQueue();
  const of = arranged(queue, { expression: "rate(1 day)" });
  const token = { by: "aws", token: randomUUID() };
  const { arrangements, groups } = schedules;
  expect(await arrangements.create(of, token)).toBe("created");
  expect(await arrangements.create(of, token)).toBe("created");
  expect(await arrangements.create(of, asker)).toBe("exists");
  expect(await arrangements.create({ ...of, description: "another" }, token)).toBe("conflict");
  expect(await arrangements.change({ ...of, description: "another" }, token)).toBe("changed");
  expect((await arrangements.find(of.place))!.description).toBe("another");
  expect(await arrangements.remove(of.place, token)).toBe("removed");
  expect(await arrangements.remove(of.place, token)).toBe("removed");
  expect(await arrangements.remove(of.place, asker)).toBe("missing");
  expect(await arrangements.change(of, asker)).toBe("missing");
  const group = { ...defaultScope, name: `g-${randomUUID()}` };
  expect(await groups.create(group, {}, token)).toBe("created");
  expect(await groups.create(group, {}, token)).toBe("created");
  expect(await groups.create(group, {}, asker)).toBe("exists");
});

test("the same name in another group, account or region is another schedule; a group goes with what is in it", async () => {
  const { arrangements, groups } = schedules;
  const base = arranged(await newQueue(), { expression: "rate(1 day)", enabled: false }).place;
  const scope = { account: "111122223333", region: "eu-west-1" };
  const places = [
    base,
    { ...base, group: "reports" },
    { ...base, ...scope, group: "reports" },
    { ...base, ...scope },
  ];
  expect(await arrangements.create(arranged("q", { place: places[1]! }), asker)).toBe("group missing");
  for (const each of [defaultScope, scope])
    await groups.create({ ...each, name: "reports" }, { team: "a" }, asker);
  for (const place of places)
    expect(await arrangements.create(arranged("q", { place, enabled: false }), asker)).toBe("created");
  const listed = await arrangements.list(scope, { prefix: base.name, limit: 10 });
  expect(listed.map(({ place }) => place)).toEqual([places[3], places[2]]);
  const after = ["default", base.name] as const;
  expect(await arrangements.list(scope, { after, limit: 10 })).toMatchObject([{ place: places[2] }]);
  expect(await groups.remove({ ...scope, name: "reports" }, asker)).toBe("removed");
  expect(await Promise.all(places.map((place) => arrangements.find(place)))).toMatchObject([
    { place: places[0], enabled: false },
    { place: places[1] },
    undefined as never,
    { place: places[3] },
  ]);
  expect((await groups.list(scope, { limit: 10 })).map(({ name }) => name)).toEqual(["default"]);
});

test("what code declares is seen in the same words, is changed there, and takes over what was arranged by that name", async () => {
  const queue = await newQueue();
  const of = arranged(queue, { expression: "rate(1 day)", description: "arranged" });
  const place = { ...of.place, name: "taken-over" };
  expect(await schedules.arrangements.create({ ...of, place }, asker)).toBe("created");
  await schedules.declare("reports", [
    schedule("taken-over", {
      when: "0 2 * * *",
      timeZone: "UTC",
      overlap: "skip",
      catchUp: "skip",
      target: { kind: "queue", name: queue },
      succeedsWithin: "1h",
      owner: "reports-team",
      runbook: "r",
    }),
  ]);
  expect(await schedules.arrangements.find(place)).toMatchObject({ declared: true, description: null });
  expect(await schedules.find("taken-over")).toMatchObject({ expectedByMs: expect.any(Number) });
  expect(await schedules.arrangements.change({ ...of, place }, asker)).toBe("declared");
});
