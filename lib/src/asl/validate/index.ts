// Says what is wrong with a definition, in the codes, words and locations of ValidateStateMachineDefinition. A rule is
// here where it is sure: what AWS accepts must pass.
import type { ExecutionType, Json, JsonObject } from "../contract.ts";
import { exceedsBytes, limits, readJson } from "../limits.ts";
import { isObject } from "../path/evaluate.ts";
import { compileMachine, compileState } from "../parse.ts";
import { expressionOf } from "../query/jsonata.ts";
import { resourceOf } from "../states/task.ts";
import { parseTimestamp } from "../../core/timestamp.ts";
import { checkFieldTypes } from "./fields.ts";
import { isKnownIntegration } from "./integrations.ts";
import { checkRules } from "./rules.ts";
import { checkExpressions, checkPaths } from "./texts.ts";

export interface Diagnostic {
  readonly severity: "ERROR" | "WARNING";
  readonly code: string;
  readonly message: string;
  readonly location?: string;
}

type Report = (location: string, message: string, code?: string) => void;

interface Context {
  readonly report: Report;
  readonly type: ExecutionType;
  /** Set where a whole machine's language is JSONata: no state may go back to JSONPath. */
  readonly machineLanguage: string;
}

/** All that is wrong with the text of a definition; an empty list means that it compiles. */
export function validateDefinition(text: string, type: ExecutionType = "STANDARD"): readonly Diagnostic[] {
  const found = parseDefinition(text);
  return Array.isArray(found) ? (found as readonly Diagnostic[]) : validateMachine(found as JsonObject, type);
}

/** How CreateStateMachine words the first diagnostic. */
export function invalidDefinitionMessage(diagnostics: readonly Diagnostic[]): string {
  const parts = diagnostics.map(
    ({ code, message, location }) => `${code}: ${message}${location === undefined ? "" : ` at ${location}`}`,
  );
  return `Invalid State Machine Definition: '${parts.join(", ")}'`;
}

function parseDefinition(text: string): JsonObject | readonly Diagnostic[] {
  if (exceedsBytes(text, limits.definitionBytes))
    return [schemaError(`The definition exceeds ${limits.definitionBytes} bytes`)];
  try {
    const value = readJson(text);
    return isObject(value) ? value : [schemaError("Definition must be a valid JSON object")];
  } catch {
    return [text.trim() === "" ? schemaError("Definition must be a valid JSON object") : jsonError(text)];
  }
}

const schemaError = (message: string): Diagnostic => ({
  severity: "ERROR",
  code: "SCHEMA_VALIDATION_FAILED",
  message,
});

/** Worded as Jackson does, which reads a whole word before it complains. */
function jsonError(text: string): Diagnostic {
  const token = /^\s*([A-Za-z_]\w*)/.exec(text);
  const column = (token?.[0].length ?? 0) + 1;
  const location = `[Source: (String)"${text}"; line: 1, column: ${column}]`;
  const expected = "was expecting (JSON String, Number, Array, Object or token 'null', 'true' or 'false')";
  const message = token ? `Unrecognized token '${token[1]}': ${expected}` : "The text is not valid JSON";
  return {
    severity: "ERROR",
    code: "INVALID_JSON_DESCRIPTION",
    message: `${message}\n at ${location}`,
    location,
  };
}

function validateMachine(definition: JsonObject, type: ExecutionType): readonly Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  const report = reporter(diagnostics);
  const machineLanguage = (definition.QueryLanguage as string | undefined) ?? "JSONPath";
  checkMachine(definition, "", { report, type, machineLanguage });
  if (diagnostics.length === 0) checkCompiles(() => compileMachine(definition), "/", report);
  return diagnostics;
}

/** One state by itself, as TestState takes it. */
export function validateState(state: JsonObject, machineLanguage = "JSONPath"): readonly Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  const report = reporter(diagnostics);
  const location = "/States/StateName";
  checkState(state, location, { report, type: "STANDARD", machineLanguage });
  if (diagnostics.length === 0)
    checkCompiles(() => compileState("StateName", state, machineLanguage), location, report);
  return diagnostics;
}

/** The last word: a definition is valid only if it compiles. */
function checkCompiles(compile: () => unknown, location: string, report: Report): void {
  try {
    compile();
  } catch (error) {
    report(location, `The definition cannot be read: ${(error as Error).message}`);
  }
}

const reporter =
  (diagnostics: Diagnostic[]): Report =>
  (location, message, code = "SCHEMA_VALIDATION_FAILED") => {
    diagnostics.push({ severity: "ERROR", code, message, location });
  };

function checkMachine(definition: JsonObject, at: string, context: Context): void {
  const missing = ["States", "StartAt"].filter((field) => definition[field] === undefined);
  if (missing.length > 0)
    return context.report(at || "/", `These fields are required: [${missing.join(", ")}]`);
  checkLanguage(definition, at, context.report);
  const { States: states, StartAt: startAt } = definition;
  if (!isObject(states) || Object.keys(states).length === 0)
    return context.report(`${at}/States`, "Value cannot be empty");
  for (const [name, state] of Object.entries(states)) {
    const location = `${at}/States/${name}`;
    if (name.length > limits.stateNameCharacters)
      context.report(location, `State name must be at most ${limits.stateNameCharacters} characters long`);
    if (isObject(state)) checkState(state, location, context);
    else context.report(location, "A state must be a JSON object");
  }
  if (typeof startAt !== "string") return context.report(`${at}/StartAt`, "Value must be a string");
  checkTransitions(states, startAt, at, context.report);
}

const languages = ["JSONPath", "JSONata"];

function checkLanguage({ QueryLanguage: language }: JsonObject, at: string, report: Report): boolean {
  const isKnown = language === undefined || languages.includes(language as string);
  if (!isKnown)
    report(
      `${at}/QueryLanguage`,
      `The field 'QueryLanguage' should have one of these values: [${languages.join(", ")}]`,
    );
  return isKnown;
}

const stateTypes = ["Task", "Wait", "Pass", "Succeed", "Fail", "Choice", "Parallel", "Map"];

function checkState(state: JsonObject, at: string, context: Context): void {
  if (!stateTypes.includes(state.Type as string)) {
    return context.report(
      `${at}/Type`,
      `The field 'Type' should have one of these values: [${stateTypes.join(", ")}]`,
    );
  }
  checkFieldTypes(state, at, context.report);
  if (!checkLanguage(state, at, context.report)) return;
  const language = (state.QueryLanguage as string | undefined) ?? context.machineLanguage;
  if (context.machineLanguage === "JSONata" && language === "JSONPath") {
    context.report(at, "'QueryLanguage' can not be 'JSONPath' if set to 'JSONata' for whole state machine");
    return;
  }
  checkRules(state, language, (field, message) => context.report(`${at}${field}`, message));
  if (language === "JSONata") checkExpressions(state, at, context.report);
  else checkPaths(state, at, context.report);
  checkType[state.Type as string]?.(state, at, { ...context, machineLanguage: language });
  checkEnding(state, at, context.report);
}

/** Every state but Choice, Succeed and Fail says where it goes or that it ends. */
function checkEnding(state: JsonObject, at: string, report: Report): void {
  if (["Choice", "Succeed", "Fail"].includes(state.Type as string)) return;
  if (state.Next === undefined && state.End !== true) report(at, "These fields are required: [Next]");
}

type Check = (state: JsonObject, at: string, context: Context) => void;

const checkType: Readonly<Record<string, Check>> = {
  Task: checkTask,
  Wait: checkWait,
  Choice: checkChoice,
  Parallel: checkParallel,
  Map: checkMap,
};

function checkTask(state: JsonObject, at: string, { report, type }: Context): void {
  const { Resource: resource, Credentials: credentials } = state;
  if (typeof resource !== "string") return report(at, "These fields are required: [Resource]");
  if (isObject(credentials) && credentials.RoleArn === undefined && credentials["RoleArn.$"] === undefined) {
    report(`${at}/Credentials`, "The field 'RoleArn' is required but was missing");
  }
  const { kind, type: service, action, pattern } = resourceOf(resource);
  if (kind === "service" && !isKnownIntegration(service, action)) {
    report(
      `${at}/Resource`,
      `The resource provided ${resource} is not recognized. The value is not a valid resource ARN, or the resource is not available in this region.`,
    );
  } else if (type === "EXPRESS" && pattern !== "requestResponse") {
    report(`${at}/Resource`, `Express state machine does not support '.${pattern}' service integration `);
  }
}

const waitFields = ["Seconds", "Timestamp", "SecondsPath", "TimestampPath"];

function checkWait(state: JsonObject, at: string, { report, machineLanguage }: Context): void {
  const { Timestamp: timestamp } = state;
  const known = machineLanguage === "JSONata" ? waitFields.slice(0, 2) : waitFields;
  if (known.every((field) => state[field] === undefined))
    return report(at, `One of these fields is required: [${known.join(", ")}]`);
  if (
    typeof timestamp !== "string" ||
    (machineLanguage === "JSONata" && expressionOf(timestamp) !== undefined)
  )
    return;
  if (machineLanguage === "JSONPath" && parseTimestamp(timestamp) === undefined)
    report(`${at}/Timestamp`, "String does not match RFC3339 timestamp");
}

function checkChoice(state: JsonObject, at: string, { report }: Context): void {
  if (!Array.isArray(state.Choices) || state.Choices.length === 0)
    report(`${at}/Choices`, "Value cannot be empty");
}

function checkParallel(state: JsonObject, at: string, context: Context): void {
  const branches = state.Branches;
  if (!Array.isArray(branches) || branches.length === 0)
    return context.report(`${at}/Branches`, "Value cannot be empty");
  (branches as readonly Json[]).forEach((branch, i) => {
    const location = `${at}/Branches[${i}]`;
    if (isObject(branch)) checkMachine(branch, location, context);
    else context.report(location, "A branch must be a JSON object");
  });
}

function checkMap(state: JsonObject, at: string, context: Context): void {
  const field = state.ItemProcessor === undefined ? "Iterator" : "ItemProcessor";
  const processor = state[field];
  if (!isObject(processor)) return context.report(at, "These fields are required: [ItemProcessor]");
  checkMachine(processor, `${at}/${field}`, context);
}

/** Where a branch may go from a state. */
function targetsOf(state: JsonObject): readonly { readonly path: string; readonly target: string }[] {
  const own = ["Next", "Default"].map((path) => ({ path, target: state[path] }));
  const listed = ["Choices", "Catch"].flatMap((field) =>
    objectsIn(state[field]).map((each, i) => ({ path: `${field}[${i}]/Next`, target: each.Next })),
  );
  return [...own, ...listed].filter(
    (each): each is { path: string; target: string } => typeof each.target === "string",
  );
}

const objectsIn = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? (value as readonly Json[]).filter(isObject) : [];

function checkTransitions(states: JsonObject, startAt: string, at: string, report: Report): void {
  const code = "MISSING_TRANSITION_TARGET";
  if (!Object.hasOwn(states, startAt))
    return report(`${at}/StartAt`, `Missing 'StartAt' target: ${startAt}`, code);
  const reached = new Set([startAt]);
  for (const name of reached) {
    const state = states[name];
    for (const { path, target } of isObject(state) ? targetsOf(state) : []) {
      if (Object.hasOwn(states, target)) reached.add(target);
      else report(`${at}/States/${name}/${path}`, `Missing 'Next' target: ${target}`, code);
    }
  }
  for (const name of Object.keys(states))
    if (!reached.has(name)) report(`${at}/States/${name}`, `State "${name}" is not reachable.`, code);
}
