// Which fields the language knows where: those of each type of state, those of one query language alone, and those that
// exclude each other. As ValidateStateMachineDefinition answers for each type and field.
import { operandOf } from "../choice.ts";
import type { Json, JsonObject } from "../contract.ts";
import { isObject } from "../path/evaluate.ts";

export type Report = (location: string | undefined, message: string, code?: string) => void;

const everywhere = ["Type", "Comment", "QueryLanguage"];
const data = ["InputPath", "OutputPath", "Output"];
const result = ["ResultPath", "ResultSelector", "Parameters", "Retry", "Catch"];
const onward = ["Assign", "Next", "End"];
const clocks = ["TimeoutSeconds", "TimeoutSecondsPath", "HeartbeatSeconds", "HeartbeatSecondsPath"];
const tolerance = ["ToleratedFailureCount", "ToleratedFailurePercentage"];

const ofType: Readonly<Record<string, readonly string[]>> = {
  Pass: [...data, ...onward, "Result", "ResultPath", "Parameters"],
  Task: [...data, ...onward, ...result, ...clocks, "Arguments", "Resource", "Credentials"],
  Wait: [...data, ...onward, "Seconds", "SecondsPath", "Timestamp", "TimestampPath"],
  Choice: [...data, "Assign", "Choices", "Default"],
  Succeed: data,
  Fail: ["Error", "ErrorPath", "Cause", "CausePath"],
  Parallel: [...data, ...onward, ...result, "Arguments", "Branches"],
  Map: [
    ...data,
    ...onward,
    ...result,
    ...tolerance,
    ...tolerance.map((field) => `${field}Path`),
    "ItemProcessor",
    "Iterator",
    "ItemsPath",
    "Items",
    "ItemSelector",
    "ItemReader",
    "ItemBatcher",
    "ResultWriter",
    "MaxConcurrency",
    "MaxConcurrencyPath",
    "Label",
  ],
};

const inMachine = ["Comment", "QueryLanguage", "StartAt", "States", "TimeoutSeconds", "Version"];
const inProcessor = ["Comment", "ProcessorConfig", "StartAt", "States", "TimeoutSeconds", "Version"];
/** A choice rule decides in one of these ways. */
export const selectors = ["And", "Or", "Not", "Variable", "Condition"];

const namesOf: Readonly<Record<string, readonly string[]>> = {
  Retry: [
    "Comment",
    "ErrorEquals",
    "IntervalSeconds",
    "MaxAttempts",
    "BackoffRate",
    "MaxDelaySeconds",
    "JitterStrategy",
  ],
  Catch: ["Comment", "ErrorEquals", "Next", "ResultPath", "Output", "Assign"],
};

const notAmong = (from: JsonObject, known: readonly string[]): readonly string[] =>
  Object.keys(from).filter((field) => !known.includes(field));

function refuseUnknown(from: JsonObject, known: readonly string[], at: string, report: Report): void {
  for (const field of notAmong(from, known)) report(at, `Field '${field}' is not supported`);
}

/** Only the whole machine has a query language: a branch or a processor has none of its own. */
export function checkMachineFields(machine: JsonObject, at: string, report: Report): void {
  refuseUnknown(machine, at === "" ? inMachine : inProcessor, at || "/", report);
}

/** Fields of JSONPath that name a value of the input. */
const pathVariants = [
  "TimeoutSecondsPath",
  "HeartbeatSecondsPath",
  "SecondsPath",
  "TimestampPath",
  "MaxConcurrencyPath",
  "ToleratedFailureCountPath",
  "ToleratedFailurePercentagePath",
  "ErrorPath",
  "CausePath",
  "ItemsPath",
  "MaxItemsPath",
  "MaxItemsPerBatchPath",
  "MaxInputBytesPerBatchPath",
];

const onlyIn: Readonly<Record<string, readonly string[]>> = {
  JSONPath: [
    "InputPath",
    "OutputPath",
    "ResultPath",
    "Parameters",
    "ResultSelector",
    "Result",
    "Variable",
    ...pathVariants,
  ],
  JSONata: ["Arguments", "Output", "Items", "Condition"],
};

/** Fields that belong to the other query language are told of where the object stands, not where the field does. */
function refuseOtherLanguage(from: JsonObject, language: string, at: string, report: Report): void {
  const [other] = Object.keys(onlyIn).filter((each) => each !== language);
  for (const field of Object.keys(from).filter((each) => onlyIn[other!]!.includes(each)))
    report(
      at,
      `The QueryLanguage is set to '${language}', but field '${field}' is only supported for the '${other}' QueryLanguage`,
    );
}

/** Fields that may be given by a path instead. */
const withPaths = [
  "TimeoutSeconds",
  "HeartbeatSeconds",
  "MaxConcurrency",
  ...tolerance,
  "Error",
  "Cause",
  "MaxItems",
  "MaxItemsPerBatch",
  "MaxInputBytesPerBatch",
];

/** At most one of each may be there. */
const exclusive: readonly (readonly string[])[] = [
  ["SecondsPath", "Seconds", "TimestampPath", "Timestamp"],
  ["ItemProcessor", "Iterator"],
  ...withPaths.map((field) => [field, `${field}Path`]),
];

function refuseBoth(from: JsonObject, at: string, report: Report): void {
  for (const fields of exclusive)
    if (fields.filter((field) => from[field] !== undefined).length > 1)
      report(at, `There should only be one of the following fields: [${fields.join(", ")}]`);
}

/** One of each must be there. */
const needed: Readonly<Record<string, readonly string[]>> = { Wait: exclusive[0]!, Map: exclusive[1]! };

function requireOne(state: JsonObject, at: string, report: Report): void {
  const fields = needed[state.Type as string];
  if (fields?.every((field) => state[field] === undefined))
    report(at, `This object should have only one of the following fields: [${fields.join(", ")}]`);
}

/** Every state but Choice, Succeed and Fail says where it goes or that it ends. */
function checkEnding({ Type: type, Next: next, End: end }: JsonObject, at: string, report: Report): void {
  if (!ofType[type as string]!.includes("Next")) return;
  if (next !== undefined && end === true)
    report(at, "There should only be one of the following fields: [Next, End]");
  if (next === undefined && end !== true)
    report(at, "This object should have only one of the following fields: [Next, End]");
}

interface Place {
  readonly at: string;
  /** Undefined where the state must not have the language that it names: then its fields are not told of as well. */
  readonly language: string | undefined;
}

/** The state, and the objects within it that have fields of the language. */
export function checkStateFields(state: JsonObject, { at, language }: Place, report: Report): void {
  const known = [...everywhere, ...ofType[state.Type as string]!];
  refuseUnknown(state, known, at, report);
  const own = Object.fromEntries(Object.entries(state).filter(([field]) => known.includes(field)));
  const parts: readonly Part[] = [{ part: own, location: at }, ...partsOf(own, at)];
  for (const { part, location, names } of parts) {
    if (names) refuseUnknown(part, names, location, report);
    if (language !== undefined) refuseOtherLanguage(part, language, location, report);
    refuseBoth(part, location, report);
  }
  requireOne(state, at, report);
  checkEnding(state, at, report);
}

interface Part {
  readonly part: JsonObject;
  readonly location: string;
  /** Its fields, where no others may be there. */
  readonly names?: readonly string[];
}

function partsOf(state: JsonObject, at: string): readonly Part[] {
  const lists = Object.entries(namesOf).flatMap(([field, names]) =>
    itemsOf(state, field, at).map(({ part, location }) => ({ part, location, names })),
  );
  const objects = ["ItemReader", "ItemReader/ReaderConfig", "ItemBatcher", "ResultWriter"].flatMap((path) => {
    const part = fieldAt(state, path);
    return isObject(part) ? [{ part, location: `${at}/${path}` }] : [];
  });
  return [...lists, ...objects];
}

/** A field of the state or of an object within it: `ItemReader/ReaderConfig`. */
export const fieldAt = (state: JsonObject, path: string): Json | undefined =>
  path
    .split("/")
    .reduce<Json | undefined>((value, field) => (isObject(value) ? value[field] : undefined), state);

/** The objects of a list among the state's fields. */
export function itemsOf(state: JsonObject, field: string, at: string): readonly Part[] {
  const list = Array.isArray(state[field]) ? (state[field] as readonly JsonObject[]) : [];
  return list.flatMap((part, i) => (isObject(part) ? [{ part, location: `${at}/${field}[${i}]` }] : []));
}

interface Standing {
  readonly language: string;
  /** The rules within another one have no target and assign nothing. */
  readonly isOutermost: boolean;
}

export function checkRuleFields(
  { part, location }: Part,
  { language, isOutermost }: Standing,
  report: Report,
): void {
  const known = ["Comment", ...selectors, ...(isOutermost ? ["Next", "Output", "Assign"] : [])];
  const unknown = notAmong(part, known).filter((field) => operandOf(field) === undefined);
  for (const field of unknown) report(location, `Field '${field}' is not supported`);
  refuseOtherLanguage(part, language, location, report);
}
