// What someone who watches sees of machines and executions, on a real PostgreSQL.
import { expect, test } from "vitest";
import { testPlatform } from "../../testing/index.ts";
import { defaultScope } from "../../queue/contract.ts";
import type { Platform } from "../../platform.ts";
import { machineOf } from "../machine.fixture.ts";

const wait = { Type: "Wait", Seconds: 3600 };

async function begin(platform: Platform, target: Awaited<ReturnType<typeof machineOf>>, name: string) {
  const { arn } = await platform.workflows.executions.start({ target, name, input: "{}" });
  return (await platform.workflows.executions.find(arn))!;
}

const tree = {
  StartAt: "Both",
  States: {
    Both: {
      Type: "Parallel",
      End: true,
      Branches: [
        { StartAt: "Rest", States: { Rest: { ...wait, End: true } } },
        {
          StartAt: "Work",
          States: {
            Work: {
              Type: "Task",
              Resource: "arn:aws:states:us-east-1:000000000000:activity:pack",
              TimeoutSeconds: 60,
              End: true,
            },
          },
        },
      ],
    },
  },
};

test("executions are found by machine, status, beginning of the name and page", async () => {
  await using kit = await testPlatform();
  const { observer } = kit.platform.workflows;
  const calm = await machineOf(kit.platform, "calm", {
    StartAt: "Rest",
    States: { Rest: { ...wait, End: true } },
  });
  const quick = await machineOf(kit.platform, "quick", {
    StartAt: "End",
    States: { End: { Type: "Succeed" } },
  });
  for (const name of ["a-1", "a-2", "b-1"]) await begin(kit.platform, calm, name);
  await begin(kit.platform, quick, "a-3");
  const names = async (search: object) =>
    (await observer.executions(defaultScope, { limit: 10, ...search })).map(({ name }) => name);
  expect(await names({})).toEqual(["a-3", "b-1", "a-2", "a-1"]);
  expect(await names({ machine: "calm", namePrefix: "a-" })).toEqual(["a-2", "a-1"]);
  expect(await names({ status: "SUCCEEDED" })).toEqual(["a-3"]);
  const [first] = await observer.executions(defaultScope, { limit: 1, machine: "calm" });
  expect(first).toMatchObject({ name: "b-1", machine: "calm", status: "RUNNING", states: ["Rest"] });
  expect(await names({ machine: "calm", before: first!.id })).toEqual(["a-2", "a-1"]);
  const surveyed = await observer.machines(defaultScope, { search: "", after: "", limit: 10 });
  expect(surveyed).toMatchObject([
    { name: "calm", recent: { RUNNING: 3 }, declared: false },
    { name: "quick", recent: { SUCCEEDED: 1 } },
  ]);
});

test("each line of control says what it waits for, until when, and what to do", async () => {
  await using kit = await testPlatform();
  const { activities, executions, observer } = kit.platform.workflows;
  await activities.create(defaultScope, "pack", { encryption: undefined, tags: {} });
  const execution = await begin(kit.platform, await machineOf(kit.platform, "tree", tree), "one");
  const positions = await observer.positions(execution);
  expect(positions.map(({ state, hold, path }) => ({ state, hold, path }))).toEqual([
    { state: "Rest", hold: "timer", path: ["Both[0]"] },
    { state: "Work", hold: "activity", path: ["Both[1]"] },
    { state: "Both", hold: "children", path: [] },
  ]);
  const [rest, work, both] = positions;
  expect(Math.abs(rest!.untilMs! - rest!.sinceMs - 3_600_000)).toBeLessThan(2000);
  expect(Math.abs(work!.untilMs! - work!.sinceMs - 60_000)).toBeLessThan(2000);
  expect(work!.remedy).toMatch(/GetActivityTask/);
  expect(both!.reason).toBe("0 of 2 branches are done.");
  await executions.stop(execution, { error: "Enough" });
  expect((await observer.positions(execution)).map(({ hold }) => hold)).toEqual([
    "halted",
    "halted",
    "halted",
  ]);
});
