// What type each field of a state has, so that nothing of another type gets as far as an execution.
import type { Json, JsonObject } from "../contract.ts";
import { isObject } from "../path/evaluate.ts";
import { expressionOf } from "../query/jsonata.ts";

type FieldType = "String" | "Boolean" | "Number" | "Object" | "Array" | "Path" | "Names";

/** Fields of JSONPath states that name a value of the input. */
const valuePaths = [
  "ItemsPath",
  "SecondsPath",
  "TimestampPath",
  "TimeoutSecondsPath",
  "HeartbeatSecondsPath",
  "MaxConcurrencyPath",
  "ToleratedFailureCountPath",
  "ToleratedFailurePercentagePath",
  "ErrorPath",
  "CausePath",
];

/** Fields of JSONPath states that are a path to read from. */
export const readPaths: readonly string[] = ["InputPath", "OutputPath", ...valuePaths];

const state: Readonly<Record<string, FieldType>> = {
  Next: "String",
  Default: "String",
  End: "Boolean",
  Resource: "String",
  Timestamp: "String",
  Error: "String",
  Cause: "String",
  Label: "String",
  QueryLanguage: "String",
  InputPath: "Path",
  OutputPath: "Path",
  ResultPath: "Path",
  ...Object.fromEntries(valuePaths.map((field) => [field, "String"] as const)),
  Seconds: "Number",
  TimeoutSeconds: "Number",
  HeartbeatSeconds: "Number",
  MaxConcurrency: "Number",
  ToleratedFailureCount: "Number",
  ToleratedFailurePercentage: "Number",
  Assign: "Object",
  Credentials: "Object",
  ItemReader: "Object",
  ItemBatcher: "Object",
  ResultWriter: "Object",
  Retry: "Array",
  Catch: "Array",
  Choices: "Array",
};

const retrier: Readonly<Record<string, FieldType>> = {
  ErrorEquals: "Names",
  IntervalSeconds: "Number",
  MaxAttempts: "Number",
  BackoffRate: "Number",
  MaxDelaySeconds: "Number",
  JitterStrategy: "String",
};

const catcher: Readonly<Record<string, FieldType>> = {
  ErrorEquals: "Names",
  Next: "String",
  ResultPath: "Path",
  Assign: "Object",
};
const choice: Readonly<Record<string, FieldType>> = { Next: "String", Assign: "Object" };

const holds: Readonly<Record<FieldType, (value: Json) => boolean>> = {
  String: (value) => typeof value === "string",
  Boolean: (value) => typeof value === "boolean",
  Number: (value) => typeof value === "number" || expressionOf(value) !== undefined,
  Object: isObject,
  Array: (value) => Array.isArray(value) && value.every(isObject),
  Path: (value) => value === null || typeof value === "string",
  Names: (value) =>
    Array.isArray(value) && value.length > 0 && value.every((name) => typeof name === "string"),
};

type Report = (location: string, message: string) => void;

interface Shape {
  readonly fields: Readonly<Record<string, FieldType>>;
  readonly required: readonly string[];
}

const lists: Readonly<Record<string, Shape>> = {
  Retry: { fields: retrier, required: ["ErrorEquals"] },
  Catch: { fields: catcher, required: ["ErrorEquals", "Next"] },
  Choices: { fields: choice, required: ["Next"] },
};

/** Reports each field of the wrong type, in the state and in its retriers, catchers and choices. */
export function checkFieldTypes(from: JsonObject, at: string, report: Report): void {
  checkFields(from, { fields: state, required: [] }, (field, message) => report(`${at}${field}`, message));
  for (const [name, shape] of Object.entries(lists)) {
    const items = from[name];
    if (!Array.isArray(items)) continue;
    (items as readonly Json[]).forEach((item, i) => {
      if (isObject(item))
        checkFields(item, shape, (field, message) => report(`${at}/${name}[${i}]${field}`, message));
    });
  }
}

function checkFields(from: JsonObject, { fields, required }: Shape, report: Report): void {
  const missing = required.filter((field) => from[field] === undefined);
  if (missing.length > 0) report("", `These fields are required: [${missing.join(", ")}]`);
  for (const [field, type] of Object.entries(fields)) {
    const value = from[field];
    if (value !== undefined && !holds[type](value))
      report(`/${field}`, `Expected value of type ${named[type]}`);
  }
}

/** What the type is called to a person. */
const named: Readonly<Record<FieldType, string>> = {
  String: "String",
  Boolean: "Boolean",
  Number: "Number",
  Object: "Object",
  Array: "Array of Objects",
  Path: "String or null",
  Names: "Array of Strings, not empty",
};
