// What a redrive makes of a map run: it goes on with one that failed, and leaves the others alone.
import { expect, it } from "vitest";
import type { JsonObject, StartTask } from "./contract.ts";
import { simulate, type TaskStep } from "./simulate.ts";

const lambda = "arn:aws:lambda:us-east-1:000000000000:function:work";
const map = (fields: JsonObject): JsonObject => ({
  StartAt: "All",
  States: {
    All: {
      Type: "Map",
      ItemProcessor: {
        ProcessorConfig: { Mode: "DISTRIBUTED", ExecutionType: "STANDARD" },
        StartAt: "Work",
        States: { Work: { Type: "Task", Resource: lambda, End: true } },
      },
      End: true,
      ...fields,
    },
  },
});
const redriven = { atMs: 60_000, happening: { type: "redriven" } as const };

/** Fails for the item 2 until a minute has passed; notes what it was asked. */
function makeWork() {
  const asked: unknown[] = [];
  const tasks = ({ input }: StartTask, nowMs: number): TaskStep[] => {
    asked.push(input);
    return input === 2 && nowMs < 60_000
      ? [{ does: "fail", error: "Broken" }]
      : [{ does: "succeed", output: input }];
  };
  return { asked, tasks };
}

it("runs again what did not succeed, and keeps the rest", async () => {
  const { asked, tasks } = makeWork();
  const run = await simulate(map({ MaxConcurrency: 1 }), [1, 2, 3], { tasks, happenings: [redriven] });
  expect(run).toMatchObject({ status: "SUCCEEDED", output: [1, 2, 3] });
  expect(asked).toEqual([1, 2, 2, 3]);
  const started = run.history.find(({ type }) => type === "MapRunStarted")!;
  const { mapRunArn } = started.mapRunStartedEventDetails as { mapRunArn: string };
  const again = run.history.find(({ type }) => type === "MapRunRedriven")!;
  expect(again.mapRunRedrivenEventDetails).toEqual({ mapRunArn, redriveCount: 1 });
  expect(JSON.stringify(run.state)).not.toContain(mapRunArn);
});

it("does not go on with a run that another attempt of the state has replaced", async () => {
  const retry = { ErrorEquals: ["States.ALL"], IntervalSeconds: 10, MaxAttempts: 1 };
  const stopped = { atMs: 5000, happening: { type: "stopped" } as const };
  const { tasks } = makeWork();
  const happenings = [stopped, redriven];
  const run = await simulate(map({ Retry: [retry] }), [1, 2], { tasks, happenings });
  expect(run).toMatchObject({ status: "SUCCEEDED", output: [1, 2] });
  const types = run.history.map(({ type }) => type);
  expect(types.filter((type) => type === "MapRunStarted")).toHaveLength(2);
  expect(types).not.toContain("MapRunRedriven");
});
