// What type and range each field of a state has, so that nothing else gets as far as an execution.
import type { Json, JsonObject } from "../contract.ts";
import { isObject } from "../path/evaluate.ts";
import { expressionOf } from "../query/jsonata.ts";
import { limits } from "../limits.ts";
import type { Report } from "./shape.ts";

type FieldType = "String" | "Boolean" | "Integer" | "Number" | "Object" | "Array" | "Path" | "Names";

interface Range {
  readonly type: "Integer" | "Number";
  readonly min: number;
  readonly max?: number;
}

const integer = (min: number, max?: number): Range => ({
  type: "Integer",
  min,
  ...(max === undefined ? {} : { max }),
});
const seconds = (min: number): Range => integer(min, limits.waitSeconds);

type Fields = Readonly<Record<string, FieldType | Range | readonly string[]>>;

const state: Fields = {
  Next: "String",
  Default: "String",
  End: "Boolean",
  Resource: "String",
  Timestamp: "String",
  Error: "String",
  Cause: "String",
  ErrorPath: "String",
  CausePath: "String",
  Label: "String",
  InputPath: "Path",
  OutputPath: "Path",
  ResultPath: "Path",
  ItemsPath: "String",
  SecondsPath: "String",
  TimestampPath: "String",
  TimeoutSecondsPath: "String",
  HeartbeatSecondsPath: "String",
  MaxConcurrencyPath: "String",
  ToleratedFailureCountPath: "String",
  ToleratedFailurePercentagePath: "String",
  Assign: "Object",
  Credentials: "Object",
  ItemReader: "Object",
  ItemBatcher: "Object",
  ResultWriter: "Object",
  Retry: "Array",
  Catch: "Array",
  Choices: "Array",
  Seconds: seconds(0),
  TimeoutSeconds: seconds(1),
  HeartbeatSeconds: seconds(1),
  MaxConcurrency: integer(0),
  ToleratedFailureCount: integer(0),
  ToleratedFailurePercentage: { type: "Number", min: 0, max: 100 },
};

const retrier: Fields = {
  ErrorEquals: "Names",
  IntervalSeconds: seconds(0),
  MaxAttempts: integer(0, 99_999_999),
  BackoffRate: { type: "Number", min: 1 },
  MaxDelaySeconds: integer(1, 31_622_400),
  JitterStrategy: ["NONE", "FULL"],
};

const catcher: Fields = { ErrorEquals: "Names", Next: "String", ResultPath: "Path", Assign: "Object" };
const choice: Fields = { Next: "String", Assign: "Object" };
const reader: Fields = { MaxItems: integer(0, 100_000_000), MaxItemsPath: "String" };
const batcher: Fields = {
  MaxItemsPerBatch: integer(0),
  MaxInputBytesPerBatch: integer(0),
  MaxItemsPerBatchPath: "String",
  MaxInputBytesPerBatchPath: "String",
};

/** Of the whole machine; only here a time of none is taken. */
const machine: Fields = { Version: ["1.0"], TimeoutSeconds: seconds(0) };

type Test = (value: Json) => boolean;

const holds: Readonly<Record<FieldType, Test>> = {
  String: (value) => typeof value === "string",
  Boolean: (value) => typeof value === "boolean",
  Integer: (value) => typeof value === "number" && Number.isInteger(value),
  Number: (value) => typeof value === "number",
  Object: isObject,
  Array: (value) => Array.isArray(value) && value.every(isObject),
  Path: (value) => value === null || typeof value === "string",
  Names: (value) => Array.isArray(value) && value.every((name) => typeof name === "string"),
};

/** What the type is called to a person. */
const named: Partial<Readonly<Record<FieldType, string>>> = {
  Array: "Array of Objects",
  Path: "String or null",
  Names: "Array of Strings",
};

interface Place {
  readonly at: string;
  readonly isJsonata: boolean;
  readonly report: Report;
}

/** Reports each field of the wrong type or range, in the state and in what it consists of. */
export function checkFieldTypes(from: JsonObject, place: Place): void {
  checkFields(from, state, place);
  checkList(from, "Retry", { fields: retrier, required: ["ErrorEquals"] }, place);
  checkList(from, "Catch", { fields: catcher, required: ["ErrorEquals", "Next"] }, place);
  checkList(from, "Choices", { fields: choice, required: ["Next"] }, place);
  const { ItemBatcher, ItemReader } = from;
  if (isObject(ItemBatcher)) checkFields(ItemBatcher, batcher, { ...place, at: `${place.at}/ItemBatcher` });
  if (isObject(ItemReader) && isObject(ItemReader.ReaderConfig))
    checkFields(ItemReader.ReaderConfig, reader, { ...place, at: `${place.at}/ItemReader/ReaderConfig` });
}

export const checkMachineTypes = (from: JsonObject, report: Report): void =>
  checkFields(from, machine, { at: "", isJsonata: false, report });

interface Shape {
  readonly fields: Fields;
  readonly required: readonly string[];
}

function checkList(from: JsonObject, name: string, { fields, required }: Shape, place: Place): void {
  const items = from[name];
  if (!Array.isArray(items)) return;
  (items as readonly Json[]).forEach((item, i) => {
    if (!isObject(item)) return;
    const at = `${place.at}/${name}[${i}]`;
    const missing = required.filter((field) => item[field] === undefined);
    if (missing.length > 0) place.report(at, `These fields are required: [${missing.join(", ")}]`);
    checkFields(item, fields, { ...place, at, isJsonata: false });
  });
}

function checkFields(from: JsonObject, fields: Fields, { at, isJsonata, report }: Place): void {
  for (const [field, wanted] of Object.entries(fields)) {
    const value = from[field];
    if (value === undefined) continue;
    const fault = faultOf(value, wanted, isJsonata);
    if (fault !== undefined) report(`${at}/${field}`, fault);
  }
}

function faultOf(value: Json, wanted: Fields[string], isJsonata: boolean): string | undefined {
  if (typeof wanted === "string") {
    if (!holds[wanted](value)) return `Expected value of type ${named[wanted] ?? wanted}`;
    return wanted === "Names" && (value as readonly Json[]).length === 0
      ? "Value cannot be empty"
      : undefined;
  }
  if ("type" in wanted)
    return isJsonata && expressionOf(value) !== undefined ? undefined : outOf(value, wanted);
  if (wanted.includes(value as string)) return undefined;
  return `Value should be one of the following: [${wanted.join(", ")}]`;
}

function outOf(value: Json, { type, min, max }: Range): string | undefined {
  if (!holds[type](value)) return `Expected value of type ${type}`;
  const shown = (bound: number): string => (type === "Number" ? bound.toFixed(1) : String(bound));
  if ((value as number) < min) return `Minimum value is ${shown(min)}`;
  return max !== undefined && (value as number) > max ? `Maximum value is ${shown(max)}` : undefined;
}
