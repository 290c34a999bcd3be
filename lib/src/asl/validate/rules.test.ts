// What AWS refuses beyond the recordings, as ValidateStateMachineDefinition words and places it; what comes close to it passes.
import { describe, expect, it } from "vitest";
import { invalidDefinitionMessage, validateDefinition } from "./index.ts";

const invoke = { Type: "Task", Resource: "arn:aws:states:::lambda:invoke", End: true };
const task = { ...invoke, Parameters: { FunctionName: "f" } };
const asked = { ...invoke, QueryLanguage: "JSONata", Arguments: { FunctionName: "f" } };
const pass = { Type: "Pass", End: true };
const distributed = { Mode: "DISTRIBUTED", ExecutionType: "STANDARD" };
const processor = (mode: object | undefined, inner: object = pass) => ({
  ...(mode ? { ProcessorConfig: mode } : {}),
  StartAt: "I",
  States: { I: inner },
});
const map = (more: object, mode?: object, inner?: object) => ({
  Type: "Map",
  ItemProcessor: processor(mode, inner),
  End: true,
  ...more,
});
const choice = (...Choices: readonly object[]) => ({ Type: "Choice", Choices, Default: "E" });
const retry = (...Retry: readonly object[]) => ({ ...task, Retry });
const all = { ErrorEquals: ["States.ALL"] };

/** The state beside an end, so that a machine of it alone has one. */
function faults(state: object, machine: object = {}): readonly string[] {
  const isChoice = (state as { Type: string }).Type === "Choice";
  const States = { S: state, ...(isChoice ? { E: { Type: "Succeed" } } : {}) };
  return validateDefinition(JSON.stringify({ StartAt: "S", States, ...machine })).map(
    ({ code, message, location }) =>
      `${code === "SCHEMA_VALIDATION_FAILED" ? "" : `${code} `}${location}: ${message}`,
  );
}

const onlyFor = (set: string, field: string, other: string) =>
  `The QueryLanguage is set to '${set}', but field '${field}' is only supported for the '${other}' QueryLanguage`;
const onlyOne = (...fields: readonly string[]) =>
  `There should only be one of the following fields: [${fields.join(", ")}]`;
const needsOne = (...fields: readonly string[]) =>
  `This object should have only one of the following fields: [${fields.join(", ")}]`;
const waits = ["SecondsPath", "Seconds", "TimestampPath", "Timestamp"];

describe("a definition is refused in AWS's words for", () => {
  it.each<[string, object, string]>([
    ["a time of a Map", map({ TimeoutSeconds: 5 }), "/States/S: Field 'TimeoutSeconds' is not supported"],
    ["a catcher of a Pass", { ...pass, Catch: [] }, "/States/S: Field 'Catch' is not supported"],
    ["a field that nobody knows", { ...pass, Rseult: 1 }, "/States/S: Field 'Rseult' is not supported"],
    [
      "an unknown one of a retrier",
      retry({ ...all, Max: 1 }),
      "/States/S/Retry[0]: Field 'Max' is not supported",
    ],
    [
      "a path in JSONata",
      { ...asked, ResultPath: "$.a" },
      `/States/S: ${onlyFor("JSONata", "ResultPath", "JSONPath")}`,
    ],
    [
      "an output in JSONPath",
      { ...pass, Output: 1 },
      `/States/S: ${onlyFor("JSONPath", "Output", "JSONata")}`,
    ],
    [
      "an output within a JSONata Map of a JSONPath machine",
      map({ QueryLanguage: "JSONata" }, undefined, { ...pass, Output: 1 }),
      `/States/S/ItemProcessor/States/I: ${onlyFor("JSONPath", "Output", "JSONata")}`,
    ],
    [
      "a processor's own language",
      { ...map({}), ItemProcessor: { ...processor(undefined), QueryLanguage: "JSONata" } },
      "/States/S/ItemProcessor: Field 'QueryLanguage' is not supported",
    ],
    [
      "a language that there is not",
      { ...pass, QueryLanguage: "jsonata" },
      "/States/S/QueryLanguage: Value should be one of the following: [JSONPath, JSONata]",
    ],
    ["both ways on", { ...pass, Next: "S" }, `/States/S: ${onlyOne("Next", "End")}`],
    [
      "a Wait for two things",
      { Type: "Wait", Seconds: 1, SecondsPath: "$.s", End: true },
      `/States/S: ${onlyOne(...waits)}`,
    ],
    ["a Wait for nothing", { Type: "Wait", End: true }, `/States/S: ${needsOne(...waits)}`],
    [
      "two causes",
      { Type: "Fail", Cause: "c", CausePath: "$.c" },
      `/States/S: ${onlyOne("Cause", "CausePath")}`,
    ],
    ["nothing to run", { Type: "Map", End: true }, `/States/S: ${needsOne("ItemProcessor", "Iterator")}`],
    ["no time at all", { ...task, TimeoutSeconds: 0 }, "/States/S/TimeoutSeconds: Minimum value is 1"],
    [
      "too long a Wait",
      { Type: "Wait", Seconds: 100_000_000, End: true },
      "/States/S/Seconds: Maximum value is 99999999",
    ],
    [
      "part of a second",
      { Type: "Wait", Seconds: 1.5, End: true },
      "/States/S/Seconds: Expected value of type Integer",
    ],
    [
      "an expression in JSONPath",
      { Type: "Wait", Seconds: "{% 1 %}", End: true },
      "/States/S/Seconds: Expected value of type Integer",
    ],
    [
      "less than none may fail",
      map({ ToleratedFailurePercentage: -1 }, distributed),
      "/States/S/ToleratedFailurePercentage: Minimum value is 0.0",
    ],
    [
      "more than all may fail",
      map({ ToleratedFailurePercentage: 101 }, distributed),
      "/States/S/ToleratedFailurePercentage: Maximum value is 100.0",
    ],
    [
      "a limit out of the context",
      map({ MaxConcurrencyPath: "$$.Execution.Input.n" }),
      "/States/S/MaxConcurrencyPath: Value is not a Reference Path",
    ],
    [
      "many places for a result",
      { ...pass, ResultPath: "$.a[*]" },
      "/States/S/ResultPath: Value is not a Reference Path",
    ],
    [
      "text for a path",
      { ...pass, OutputPath: "Test" },
      "/States/S/OutputPath: Value must be a valid JSONPath.",
    ],
    [
      "no name of an error",
      retry({ ErrorEquals: [] }),
      "/States/S/Retry[0]/ErrorEquals: Value cannot be empty",
    ],
    [
      "States.ALL among others",
      retry({ ErrorEquals: ["A", "States.ALL"] }),
      "/States/S/Retry[0]/ErrorEquals: States.ALL must appear alone and at end of list",
    ],
    [
      "States.ALL before others",
      retry(all, { ErrorEquals: ["A"] }),
      "/States/S/Retry[0]/ErrorEquals: States.ALL must appear alone and at end of list",
    ],
    [
      "a rate below one",
      retry({ ...all, BackoffRate: 0.5 }),
      "/States/S/Retry[0]/BackoffRate: Minimum value is 1.0",
    ],
    [
      "less than no attempts",
      retry({ ...all, MaxAttempts: -1 }),
      "/States/S/Retry[0]/MaxAttempts: Minimum value is 0",
    ],
    [
      "half a jitter",
      retry({ ...all, JitterStrategy: "HALF" }),
      "/States/S/Retry[0]/JitterStrategy: Value should be one of the following: [NONE, FULL]",
    ],
    ["a handler's name", { ...task, Resource: "f" }, "/States/S/Resource: Value is not a valid resource ARN"],
    [
      "no parameters",
      invoke,
      "/States/S: Parameters field is required for resource ARN: arn:aws:states:::lambda:invoke",
    ],
    [
      "no function",
      { ...invoke, Parameters: { Payload: 1 } },
      "/States/S/Parameters: The field 'FunctionName' is required but was missing",
    ],
    [
      "a job of a function",
      { ...task, Resource: "arn:aws:states:::lambda:invoke.sync" },
      "/States/S/Resource: The resource provided arn:aws:states:::lambda:invoke.sync is not recognized. The value is not a valid resource ARN, or the resource is not available in this region.",
    ],
    [
      "no type of child",
      map({}, { Mode: "DISTRIBUTED" }),
      "/States/S/ItemProcessor/ProcessorConfig: These fields are required: [ExecutionType]",
    ],
    [
      "a long label",
      map({ Label: "L".repeat(41) }, distributed),
      `INVALID_LABEL_NAME /States/S/Label: Label name '${"L".repeat(41)}' exceeds the 40-character limit allowed by the service`,
    ],
    [
      "a batch of an inline Map",
      map({ ItemBatcher: { MaxItemsPerBatch: 2 } }),
      "/States/S/ItemBatcher: The field 'ItemBatcher' is only supported when 'Mode' is 'DISTRIBUTED'",
    ],
    [
      "a reserved variable",
      { ...pass, Assign: { states: 1 } },
      "RESERVED_VARIABLE_NAME /States/S/Assign/states: Cannot assign to reserved variable '$states'.",
    ],
    [
      "a variable that cannot be named",
      { ...pass, Assign: { "a-b": 1 } },
      "INVALID_VARIABLE_NAME /States/S/Assign/a-b: Invalid variable name 'a-b': the variable name contains invalid characters.",
    ],
    [
      "rules of two kinds",
      choice({ And: [], Variable: "$.a", Next: "E" }),
      "/States/S/Choices[0]: The object must have only one of the following fields, [And, Or, Not, Variable, Condition]",
    ],
    [
      "two comparisons",
      choice({ Variable: "$.a", IsNull: true, IsString: true, Next: "E" }),
      `/States/S/Choices[0]: ${onlyOne("IsNull", "IsString")}`,
    ],
    [
      "a target within",
      choice({ Not: { Variable: "$.a", IsNull: true, Next: "E" }, Next: "E" }),
      "/States/S/Choices[0]/Not: Field 'Next' is not supported",
    ],
    [
      "a variable without a path",
      choice({ Variable: "a", IsNull: true, Next: "E" }),
      "/States/S/Choices[0]/Variable: Value is not a Reference Path: Reference path didn't start with '$'",
    ],
    [
      "a number that is a text",
      choice({ Variable: "$.a", NumericEquals: "5", Next: "E" }),
      "/States/S/Choices[0]/NumericEquals: Expected value of type Numeric",
    ],
    [
      "no target",
      choice({ Variable: "$.a", IsNull: true }),
      "/States/S/Choices[0]: These fields are required: [Next]",
    ],
  ])("%s", (_what, state, fault) => {
    expect(faults(state)).toEqual([fault]);
  });

  it.each<[string, string]>([
    ["a[1,2)", 'INVALID_JSONATA_EXPRESSION /States/S/Output/v: Expected "]", got ","'],
    ["", "INVALID_JSONATA_EXPRESSION /States/S/Output/v: Unexpected end of expression"],
    [
      "phone",
      "UNSUPPORTED_JSONATA_EXPRESSION /States/S/Output/v: Reference to 'phone' at the top level is not supported.",
    ],
    [
      "$map($states.input.a, function($x){ b })",
      "UNSUPPORTED_JSONATA_EXPRESSION /States/S/Output/v: Reference to 'b' at the top level is not supported.",
    ],
    ["$$.a", "UNSUPPORTED_JSONATA_EXPRESSION /States/S/Output/v: Reference to '$$' is not supported."],
    [
      "$states.errorOutput.Error",
      "UNSUPPORTED_JSONATA_EXPRESSION /States/S/Output/v: Field '$states.errorOutput' does not exist.",
    ],
    ["$states.input.items[value > 3].{'k': name}^(age)", ""],
    ["$states.input{name: age}", ""],
    ["$x.y ~> $map(function($i, $j){ $i.z })", ""],
  ])("the expression %s", (expression, fault) => {
    const state = { ...pass, QueryLanguage: "JSONata", Output: { v: `{% ${expression} %}` } };
    expect(faults(state)).toEqual(fault === "" ? [] : [fault]);
  });

  it("an expression without its end, and errors where nothing was caught", () => {
    const open = { ...pass, QueryLanguage: "JSONata", Output: "{% 1" };
    expect(faults(open)).toEqual(["/States/S/Output: JSONata string must start with {% and end with %}"]);
    const Catch = [
      { ...all, Next: "S", Output: "{% $states.errorOutput %}", Assign: { e: "{% $states.errorOutput %}" } },
    ];
    expect(faults({ ...asked, Catch })).toEqual([]);
  });
});

describe("a machine is refused in AWS's words for", () => {
  const machineOf = (States: object, more: object = {}): readonly object[] =>
    validateDefinition(JSON.stringify({ StartAt: "A", States, ...more })).map(
      ({ severity: _severity, ...diagnostic }) => diagnostic,
    );
  const loop = { A: { Type: "Pass", Next: "B" }, B: { Type: "Pass", Next: "A" } };
  const endless = { code: "MISSING_END_STATE", message: "Workflow has no terminal state" };
  const missing = (target: string, location: string) => ({
    code: "MISSING_TRANSITION_TARGET",
    message: `Missing 'Next' target: ${target}`,
    location,
  });
  const lost = (name: string) => ({
    code: "MISSING_TRANSITION_TARGET",
    message: `State "${name}" is not reachable.`,
    location: `/States/${name}`,
  });

  it("a loop without an end, at no place of it", () => {
    expect(machineOf(loop)).toEqual([endless]);
    expect(machineOf({ ...loop, C: { Type: "Pass", Next: "A" } })).toEqual([endless]);
    expect(machineOf({ ...loop, C: pass })).toEqual([lost("C")]);
    expect(invalidDefinitionMessage(validateDefinition(JSON.stringify({ StartAt: "A", States: loop })))).toBe(
      "Invalid State Machine Definition: 'MISSING_END_STATE: Workflow has no terminal state at null'",
    );
  });

  it("states that are not there, whichever field names them", () => {
    expect(machineOf({ A: { Type: "Pass", Next: "X" } })).toEqual([missing("X", "/States/A/Next"), endless]);
    expect(machineOf({ A: pass }, { StartAt: "X" })).toEqual([missing("X", "/StartAt"), lost("A")]);
    const chosen = { Type: "Choice", Choices: [{ Variable: "$.a", IsNull: true, Next: "X" }], Default: "Y" };
    expect(machineOf({ A: chosen, B: { Type: "Succeed" } })).toEqual([
      missing("Y", "/States/A/Default"),
      missing("X", "/States/A/Choices[0]/Next"),
      lost("B"),
    ]);
  });

  it("names that are there twice, and fields that are no machine's", () => {
    expect(machineOf({ A: map({}, undefined, pass), I: { Type: "Succeed" } })).toContainEqual({
      code: "DUPLICATE_STATE_NAME",
      message: "Duplicate State name: I",
      location: "/States/I",
    });
    expect(machineOf({ A: pass }, { Name: "n", Version: "2" })).toEqual([
      {
        code: "SCHEMA_VALIDATION_FAILED",
        message: "Value should be one of the following: [1.0]",
        location: "/Version",
      },
      { code: "SCHEMA_VALIDATION_FAILED", message: "Field 'Name' is not supported", location: "/" },
    ]);
  });

  it("what no Express machine may do", () => {
    const States = { A: map({}, distributed), B: { Type: "Succeed" } };
    const found = validateDefinition(JSON.stringify({ StartAt: "A", States }), "EXPRESS");
    expect(found).toContainEqual({
      severity: "ERROR",
      code: "SCHEMA_VALIDATION_FAILED",
      message: "The field 'Mode' with value 'DISTRIBUTED' is not supported inside 'EXPRESS' state machines",
      location: "/States/A/ItemProcessor/ProcessorConfig/Mode",
    });
  });
});

it("what comes close to a fault passes", () => {
  const times = { TimeoutSeconds: 10, HeartbeatSeconds: 9 };
  const some = { ErrorEquals: ["Some"], BackoffRate: 1, MaxAttempts: 0, IntervalSeconds: 0 };
  expect(faults({ ...task, ...times, Retry: [some, all] })).toEqual([]);
  expect(faults({ ...asked, Output: "{% $states.result %}", TimeoutSeconds: "{% 1 %}" })).toEqual([]);
  expect(faults(map({ ItemBatcher: { MaxItemsPerBatch: 2 }, Label: "L" }, distributed))).toEqual([]);
  expect(faults(map({ ToleratedFailureCount: 1, MaxConcurrency: 9007199254740991 }))).toEqual([]);
  expect(faults(pass, { TimeoutSeconds: 0, Version: "1.0", Comment: "c" })).toEqual([]);
  expect(faults({ ...pass, Assign: { "x.$": "$.a", über: 1 } })).toEqual([]);
  const rule = {
    And: [{ Variable: "$$.State.Name", IsString: true }, { Not: { Variable: "$v[0].a", IsNull: true } }],
  };
  expect(faults(choice({ ...rule, Next: "E", Comment: "c", Assign: { a: 1 } }))).toEqual([]);
  expect(faults({ Type: "Fail", CausePath: "States.Format('{}', $.a)", ErrorPath: "$.e" })).toEqual([]);
});
