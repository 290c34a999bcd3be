// What is told of a run, out of the history of runs that took place.
import { expect, test } from "vitest";
import { testPlatform } from "tuntas/testing";
import { defaultScope } from "tuntas/queue";
import { makeChronicles } from "./followed.ts";
import { textsOf } from "./texts.ts";
import { visitsOf } from "./visits.ts";

const activity = "arn:aws:states:us-east-1:000000000000:activity:pack";

const definition = {
  StartAt: "Each",
  States: {
    Each: {
      Type: "Map",
      ItemsPath: "$.items",
      ItemProcessor: {
        StartAt: "Note",
        States: { Note: { Type: "Pass", Next: "Keep" }, Keep: { Type: "Pass", End: true } },
      },
      ResultPath: null,
      Next: "Work",
    },
    Work: {
      Type: "Task",
      Resource: activity,
      Retry: [{ ErrorEquals: ["Busy"], IntervalSeconds: 1, MaxAttempts: 1 }],
      Catch: [{ ErrorEquals: ["Lost"], Next: "Mend" }],
      End: true,
    },
    Mend: { Type: "Task", Resource: activity, End: true },
  },
};

test("stays, items, attempts and what was caught, as the history has them", async () => {
  await using kit = await testPlatform();
  const { activities, executions, machines } = kit.platform.workflows;
  await activities.create(defaultScope, "pack", { encryption: undefined, tags: {} });
  const { machine } = await machines.create(defaultScope, {
    name: "told",
    type: "STANDARD",
    tags: {},
    publish: false,
    definition: JSON.stringify(definition),
    roleArn: "arn:aws:iam::000000000000:role/none",
  });
  const target = { machine, versionArn: null, aliasArn: null };
  const { arn } = await executions.start({ target, name: "one", input: '{"items":[1,2]}' });
  async function failNext(error: string): Promise<void> {
    const task = await activities.task(activity, { workerName: "w", waitMs: 20_000 });
    await activities.fail(task!.token, { error });
  }
  const read: number[][] = [];
  const chronicles = makeChronicles({
    async historyAfter(run, seq) {
      const parts = await executions.historyAfter(run, seq);
      read.push(parts.flatMap(({ events }) => events.map(({ id }) => id)));
      return parts;
    },
  });
  await failNext("Busy");
  await chronicles.follow((await executions.find(arn))!);
  await kit.advance(2000);
  await failNext("Lost");
  await failNext("Broken");
  const execution = (await executions.find(arn))!;
  // A look in the middle, two at once, and one when there is nothing new: no event is read twice.
  await Promise.all([chronicles.follow(execution), chronicles.follow(execution)]);
  const { chronicle } = await chronicles.follow(execution);
  expect(read.flat()).toEqual((await executions.history(execution)).map(({ id }) => id));
  expect(read.filter((ids) => ids.length > 0)).toHaveLength(2);
  const visits = visitsOf(chronicle, execution.status);
  const each = visits.find(({ state }) => state === "Each")!;
  const told = visits.map(({ state, item, outcome, attempts, parent }) => ({
    state,
    item,
    outcome,
    inside: parent === each.id,
    attempts: attempts.map(({ error }) => error),
  }));
  const inside = (state: string, item: number) => ({
    state,
    item,
    outcome: "succeeded",
    inside: true,
    attempts: [],
  });
  expect(told).toHaveLength(7);
  for (const item of [0, 1])
    for (const state of ["Note", "Keep"]) expect(told).toContainEqual(inside(state, item));
  const beside = { item: null, inside: false };
  expect(told.filter((visit) => !visit.inside)).toEqual([
    { state: "Each", ...beside, outcome: "succeeded", attempts: [] },
    { state: "Work", ...beside, outcome: "caught", attempts: ["Busy", "Lost"] },
    { state: "Mend", ...beside, outcome: "failed", attempts: ["Broken"] },
  ]);
  const work = visits.find(({ state }) => state === "Work")!.id;
  const events = await chronicles.eventsFrom(execution, work);
  expect(events[0]!.id).toBe(work);
  const texts = textsOf(chronicle, events, work)!;
  expect(texts.input).toBe('{"items":[1,2]}');
  expect(JSON.parse(texts.output!)).toMatchObject({ Error: "Lost" });
  expect(texts.attempts).toHaveLength(2);
  expect(textsOf(chronicle, events, 99_999)).toBeUndefined();
});
