// The decision by itself: what an engine relies on.
import { describe, expect, it } from "vitest";
import type { Decision, Evaluation, Event, Json, JsonObject } from "./contract.ts";
import { wireEvent } from "./history.ts";
import { next } from "./next.ts";
import { compileMachine, processorOf } from "./parse.ts";
import { evaluateHere } from "./query/evaluator.ts";
import { defaultExecution } from "./simulate.ts";

const lambda = "arn:aws:lambda:us-east-1:000000000000:function:work";
const moment = { nowMs: 1000, seed: "seed" };
const started = (input: Json): Event => ({
  type: "started",
  execution: defaultExecution(0),
  input,
  ...moment,
});
const machineOf = (states: JsonObject) =>
  compileMachine({ StartAt: Object.keys(states)[0]!, States: states });
const task = machineOf({ T: { Type: "Task", Resource: lambda, TimeoutSeconds: 9, End: true } });
const now = (decision: Decision | Promise<Decision>): Decision => {
  if (decision instanceof Promise) throw new Error("This should not need a promise.");
  return decision;
};

describe("next", () => {
  it("refuses a redrive of what has used up its history", () => {
    const { state } = now(next(task, undefined, started({})));
    const failed = now(next(task, state, { type: "stopped", ...moment })).state;
    const redrive = (lastEventId: number) =>
      now(next(task, { ...failed, lastEventId }, { type: "redriven", ...moment }));
    expect(redrive(20_000).state.status).toBe("RUNNING");
    expect(redrive(24_999)).toMatchObject({ events: [], commands: [], state: { status: "ABORTED" } });
  });

  it("answers at once where no expression has to be evaluated", () => {
    const machine = machineOf({
      A: { Type: "Pass", Next: "B" },
      B: { Type: "Pass", QueryLanguage: "JSONata", Output: "{% $states.input.a %}", End: true },
    });
    expect(now(next(machine, undefined, started({ a: 1 }))).commands).toEqual([
      { type: "end", status: "SUCCEEDED", output: 1 },
    ]);
  });

  it("asks for a task with all that the engine needs to run it", () => {
    const { state, commands } = now(next(task, undefined, started({ a: 1 })));
    const token = expect.any(String) as string;
    expect(commands).toEqual([
      {
        type: "startTask",
        branch: 0,
        entry: 2,
        task: 1,
        stateName: "T",
        kind: "lambda",
        pattern: "requestResponse",
        resource: lambda,
        input: { a: 1 },
        attempt: 0,
        token,
        timeoutSeconds: 9,
      },
    ]);
    expect(state.branches[0]!.wait).toEqual({
      for: "task",
      task: 1,
      token,
      phase: "scheduled",
      timed: true,
    });
  });

  it.each<Event>([
    { type: "taskSucceeded", task: 7, output: 1, ...moment },
    { type: "timerFired", timer: 1, ...moment },
    { type: "mapRunEnded", mapRun: 1, children: [], ...moment },
    { type: "redriven", ...moment },
  ])("wf-11 an event that nobody waits for changes nothing: $type", (event) => {
    const { state } = now(next(task, undefined, started({})));
    expect(now(next(task, state, event))).toEqual({ state, events: [], commands: [] });
  });

  it("never changes the state that it is given", () => {
    const { state } = now(next(task, undefined, started({})));
    const text = JSON.stringify(state);
    now(next(task, state, { type: "taskFailed", task: 1, error: "Boom", ...moment }));
    expect(JSON.stringify(state)).toBe(text);
  });

  it("keeps the execution's input only where the context object is read", () => {
    const kept = (parameters: JsonObject): Json | undefined =>
      now(
        next(
          machineOf({
            P: { Type: "Wait", Seconds: 1, Next: "Q" },
            Q: { Type: "Pass", Parameters: parameters, End: true },
          }),
          undefined,
          started({ big: 1 }),
        ),
      ).state.input;
    expect(kept({ "a.$": "$.a" })).toBeUndefined();
    expect(kept({ "a.$": "$$.Execution.Name" })).toEqual({ big: 1 });
  });

  it("stops what is under way when the execution is stopped", () => {
    const { state } = now(next(task, undefined, started({})));
    const { commands } = now(next(task, state, { type: "stopped", error: "Enough", ...moment }));
    expect(commands).toEqual([
      { type: "cancelTask", task: 1, branch: 0 },
      { type: "end", status: "ABORTED", error: "Enough" },
    ]);
  });

  it("tells the evaluator which expressions could run away", async () => {
    const seen: Evaluation[] = [];
    const machine = machineOf({
      A: { Type: "Pass", QueryLanguage: "JSONata", Output: "{% $states.input.a + 1 %}", Next: "B" },
      B: {
        Type: "Pass",
        QueryLanguage: "JSONata",
        Output: "{% $map([1,2], function($v) { $v }) %}",
        End: true,
      },
    });
    const evaluator = (evaluation: Evaluation) => {
      seen.push(structuredClone(evaluation));
      return evaluateHere(evaluation);
    };
    await next(machine, undefined, started({ a: 1 }), { evaluator });
    expect(seen.map(({ bounded }) => bounded)).toEqual([true, false]);
  });

  it("ends with the evaluator's failure where an expression was stopped", async () => {
    const machine = machineOf({
      A: { Type: "Pass", QueryLanguage: "JSONata", Output: "{% $sum([1..9]) %}", End: true },
    });
    const evaluator = () => Promise.reject(new Error("stopped after 100 ms"));
    const { state, commands } = await next(machine, undefined, started({}), { evaluator });
    expect(state.status).toBe("FAILED");
    expect(commands).toMatchObject([
      {
        type: "end",
        error: "States.QueryEvaluationError",
        cause: expect.stringContaining("100 ms") as string,
      },
    ]);
  });

  it("leaves the history out where nobody wants it, and counts it all the same", () => {
    const { state, events } = now(next(task, undefined, started({}), { history: false }));
    expect(events).toEqual([]);
    expect(state.lastEventId).toBe(3);
  });
});

it("finds the processor of a Map wherever it stands", () => {
  const inner: JsonObject = { StartAt: "I", States: { I: { Type: "Pass", End: true } } };
  const map: JsonObject = { Type: "Map", ItemProcessor: inner, End: true };
  const machine = machineOf({
    P: { Type: "Parallel", Branches: [{ StartAt: "M", States: { M: map } }], End: true },
  });
  expect(processorOf(machine, "M")?.startAt).toBe("I");
  expect(processorOf(machine, "I")).toBeUndefined();
});

it("marks the data of an event as complete on the wire", () => {
  const { events } = now(next(task, undefined, started({})));
  expect(wireEvent(events[0]!).executionStartedEventDetails).toMatchObject({
    input: "{}",
    inputDetails: { truncated: false },
  });
});
