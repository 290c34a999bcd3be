// Rules of the specification that no recording shows: what breaks one is refused where it is, and all else passes.
import { expect, it } from "vitest";
import { validateDefinition } from "./index.ts";

const task = { Type: "Task", Resource: "arn:aws:states:::lambda:invoke", End: true };
const map = (mode: object, more: object) => ({
  Type: "Map",
  ItemProcessor: {
    ...(Object.keys(mode).length > 0 ? { ProcessorConfig: mode } : {}),
    StartAt: "I",
    States: { I: { Type: "Pass", End: true } },
  },
  End: true,
  ...more,
});
const faults = (state: object, machine: object = {}) =>
  validateDefinition(JSON.stringify({ StartAt: "S", States: { S: state }, ...machine })).map(
    ({ location }) => location,
  );
const all = { ErrorEquals: ["States.ALL"] };
const some = { ErrorEquals: ["Some"] };
const distributed = { Mode: "DISTRIBUTED", ExecutionType: "STANDARD" };

it.each<[string, object, string]>([
  ["a path in JSONata", { ...task, QueryLanguage: "JSONata", ResultPath: "$.a" }, "/States/S/ResultPath"],
  ["arguments in JSONPath", { ...task, Arguments: {} }, "/States/S/Arguments"],
  [
    "States.ALL among others",
    { ...task, Retry: [{ ErrorEquals: ["A", "States.ALL"] }] },
    "/States/S/Retry[0]/ErrorEquals",
  ],
  ["States.ALL before others", { ...task, Retry: [all, some] }, "/States/S/Retry[0]/ErrorEquals"],
  ["a rate below one", { ...task, Retry: [{ ...all, BackoffRate: 0.5 }] }, "/States/S/Retry[0]/BackoffRate"],
  [
    "attempts below none",
    { ...task, Retry: [{ ...all, MaxAttempts: -1 }] },
    "/States/S/Retry[0]/MaxAttempts",
  ],
  ["no time at all", { ...task, TimeoutSeconds: 0 }, "/States/S/TimeoutSeconds"],
  [
    "a heartbeat as long as the time",
    { ...task, TimeoutSeconds: 9, HeartbeatSeconds: 9 },
    "/States/S/HeartbeatSeconds",
  ],
  ["batches in an inline Map", map({}, { ItemBatcher: { MaxItemsPerBatch: 2 } }), "/States/S/ItemBatcher"],
  ["a label in an inline Map", map({ Mode: "INLINE" }, { Label: "L" }), "/States/S/Label"],
  ["an end with a next state", { Type: "Fail", End: true }, "/States/S"],
  ["both ways on", { Type: "Pass", Next: "S", End: true }, "/States/S"],
])("%s is refused where it is", (_what, state, location) => {
  expect(faults(state)).toEqual([location]);
});

it("what comes close to it passes", () => {
  const times = { TimeoutSeconds: 10, HeartbeatSeconds: 9 };
  expect(faults({ ...task, ...times, Retry: [{ ...some, BackoffRate: 1, MaxAttempts: 0 }, all] })).toEqual(
    [],
  );
  expect(
    faults({ ...task, QueryLanguage: "JSONata", Arguments: {}, Output: "{% $states.result %}" }),
  ).toEqual([]);
  expect(faults(map(distributed, { ItemBatcher: { MaxItemsPerBatch: 2 }, Label: "L" }))).toEqual([]);
  expect(faults(map({}, { ToleratedFailureCount: 1 }))).toEqual([]);
});
