// Says what is wrong with a definition, in the codes, words and locations of ValidateStateMachineDefinition. A rule is
// here where it is sure: what AWS accepts must pass.
import type { ExecutionType, Json, JsonObject } from "../contract.ts";
import { duplicateKey } from "../json.ts";
import { exceedsBytes, limits, readJson } from "../limits.ts";
import { isObject } from "../path/evaluate.ts";
import { compileMachine, compileState } from "../parse.ts";
import { expressionOf } from "../query/jsonata.ts";
import { resourceOf } from "../states/task.ts";
import { parseTimestamp } from "../../core/timestamp.ts";
import { checkChoices } from "./choices.ts";
import { checkExpressions } from "./expressions.ts";
import { checkFieldTypes, checkMachineTypes } from "./fields.ts";
import { isKnownIntegration, missingParameter } from "./integrations.ts";
import { checkLabel, checkStateName, checkVariables, type Names, noNames } from "./names.ts";
import { checkRules, configOf, processorField } from "./rules.ts";
import { checkMachineFields, checkStateFields, type Report } from "./shape.ts";
import { checkPaths } from "./texts.ts";
import { checkTransitions, hasEnd } from "./transitions.ts";

export interface Diagnostic {
  readonly severity: "ERROR" | "WARNING";
  readonly code: string;
  readonly message: string;
  readonly location?: string;
}

interface Context {
  readonly report: Report;
  readonly type: ExecutionType;
  /** What a state without a language of its own speaks, however deep it stands. */
  readonly machineLanguage: string;
  readonly names: Names;
}

/** All that is wrong with the text of a definition; an empty list means that it compiles. */
export function validateDefinition(text: string, type: ExecutionType = "STANDARD"): readonly Diagnostic[] {
  const found = parseDefinition(text);
  return Array.isArray(found) ? (found as readonly Diagnostic[]) : validateMachine(found as JsonObject, type);
}

/** How CreateStateMachine words the first diagnostic. */
export function invalidDefinitionMessage(diagnostics: readonly Diagnostic[]): string {
  const parts = diagnostics.map(
    ({ code, message, location }) => `${code}: ${message}${atOf(code, location)}`,
  );
  return `Invalid State Machine Definition: '${parts.join(", ")}'`;
}

/** What has no place is said to be at one, except where the text is no definition at all. */
const atOf = (code: string, location: string | undefined): string =>
  location === undefined && code !== "MISSING_END_STATE" ? "" : ` at ${location ?? "null"}`;

function parseDefinition(text: string): JsonObject | readonly Diagnostic[] {
  if (exceedsBytes(text, limits.definitionBytes))
    return [schemaError(`The definition exceeds ${limits.definitionBytes} bytes`)];
  try {
    const value = readJson(text);
    const twice = duplicateKey(text);
    if (twice !== undefined) return [jsonFault(`Duplicate field '${twice}'`, `[Source: (String)"${text}"]`)];
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
  return jsonFault(message, location);
}

const jsonFault = (message: string, location: string): Diagnostic => ({
  severity: "ERROR",
  code: "INVALID_JSON_DESCRIPTION",
  message: `${message}\n at ${location}`,
  location,
});

function validateMachine(definition: JsonObject, type: ExecutionType): readonly Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  const report = reporter(diagnostics);
  const machineLanguage = languageOf(definition, "JSONPath");
  checkLanguage(definition, "", report);
  checkMachineTypes(definition, report);
  checkMachine(definition, "", { report, type, machineLanguage, names: noNames() });
  if (diagnostics.length === 0) checkCompiles(() => compileMachine(definition), "/", report);
  return diagnostics;
}

/** One state by itself, as TestState takes it. */
export function validateState(state: JsonObject): readonly Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  const report = reporter(diagnostics);
  const location = "/States/StateName";
  const machineLanguage = "JSONPath";
  checkState(state, location, { report, type: "STANDARD", machineLanguage, names: noNames() });
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
    diagnostics.push({
      severity: "ERROR",
      code,
      message,
      ...(location === undefined ? {} : { location }),
    });
  };

function checkMachine(definition: JsonObject, at: string, context: Context): void {
  const { report } = context;
  checkMachineFields(definition, at, report);
  const missing = ["States", "StartAt"].filter((field) => definition[field] === undefined);
  if (missing.length > 0) return report(at || "/", `These fields are required: [${missing.join(", ")}]`);
  const { States: states, StartAt: startAt } = definition;
  if (!isObject(states) || Object.keys(states).length === 0)
    return report(`${at}/States`, "Value cannot be empty");
  for (const [name, state] of Object.entries(states)) {
    const location = `${at}/States/${name}`;
    checkStateName(name, location, context.names, report);
    if (isObject(state)) checkState(state, location, context);
    else report(location, "A state must be a JSON object");
  }
  if (typeof startAt !== "string") return report(`${at}/StartAt`, "Expected value of type String");
  const isEndless = at === "" && !hasEnd(states);
  checkTransitions(states, { startAt, at, isEndless }, report);
  if (isEndless) report(undefined, "Workflow has no terminal state", "MISSING_END_STATE");
}

const languages = ["JSONPath", "JSONata"];

/** What is there but is not `JSONPath` counts as JSONata, so that the fields of it are not told of as well. */
const languageOf = ({ QueryLanguage: language }: JsonObject, inherited: string): string => {
  if (language === undefined) return inherited;
  return language === "JSONPath" ? "JSONPath" : "JSONata";
};

function checkLanguage({ QueryLanguage: language }: JsonObject, at: string, report: Report): void {
  if (language === undefined || languages.includes(language as string)) return;
  const wanted = `Value should be one of the following: [${languages.join(", ")}]`;
  report(`${at}/QueryLanguage`, typeof language === "string" ? wanted : "Expected value of type [STRING]");
}

const stateTypes = ["Task", "Wait", "Pass", "Succeed", "Fail", "Choice", "Parallel", "Map"];

function checkState(state: JsonObject, at: string, context: Context): void {
  const { report, machineLanguage } = context;
  if (!stateTypes.includes(state.Type as string)) {
    return report(
      `${at}/Type`,
      `The field 'Type' should have one of these values: [${stateTypes.join(", ")}]`,
    );
  }
  const language = languageOf(state, machineLanguage);
  const isDowngrade = machineLanguage === "JSONata" && language === "JSONPath";
  if (isDowngrade)
    report(at, "'QueryLanguage' can not be 'JSONPath' if set to 'JSONata' for whole state machine");
  checkStateFields(state, { at, language: isDowngrade ? undefined : language }, report);
  checkLanguage(state, at, report);
  checkFieldTypes(state, { at, isJsonata: language === "JSONata", report });
  checkRules(state, at, report);
  checkVariables(state, language, at, report);
  if (language === "JSONata") checkExpressions(state, at, report);
  else if (!isDowngrade) checkPaths(state, at, report);
  checkType[state.Type as string]?.({ state, at, language }, context);
}

interface Subject {
  readonly state: JsonObject;
  readonly at: string;
  readonly language: string;
}

type Check = (subject: Subject, context: Context) => void;

const checkType: Readonly<Record<string, Check>> = {
  Task: checkTask,
  Wait: checkWait,
  Choice: ({ state, at, language }, { report }) => checkChoices(state, language, at, report),
  Parallel: checkParallel,
  Map: checkMap,
};

function checkTask({ state, at, language }: Subject, { report, type }: Context): void {
  const { Resource: resource } = state;
  if (typeof resource !== "string") return report(at, "These fields are required: [Resource]");
  if (!resource.startsWith("arn:")) return report(`${at}/Resource`, "Value is not a valid resource ARN");
  const { kind, type: service, action, pattern } = resourceOf(resource);
  checkCredentials(state, { at: `${at}/Credentials`, isActivity: kind === "activity" }, report);
  if (kind === "activity" && type === "EXPRESS")
    report(`${at}/Resource`, "Express state machine does not support Activity ARN");
  if (kind !== "service") return;
  if (!isKnownIntegration(service, action)) {
    return report(
      `${at}/Resource`,
      `The resource provided ${resource} is not recognized. The value is not a valid resource ARN, or the resource is not available in this region.`,
    );
  }
  if (type === "EXPRESS" && pattern !== "requestResponse")
    report(`${at}/Resource`, `Express state machine does not support '.${pattern}' service integration `);
  const field = language === "JSONata" ? "Arguments" : "Parameters";
  const parameters = state[field];
  if (parameters === undefined) return report(at, `${field} field is required for resource ARN: ${resource}`);
  const missing = missingParameter(service, action, parameters);
  if (missing !== undefined) report(`${at}/${field}`, `The field '${missing}' is required but was missing`);
}

function checkCredentials(
  { Credentials: credentials }: JsonObject,
  { at, isActivity }: { at: string; isActivity: boolean },
  report: Report,
): void {
  if (!isObject(credentials)) return;
  if (isActivity) return report(at, "The field 'Credentials' is not supported for activities");
  if (credentials.RoleArn === undefined && credentials["RoleArn.$"] === undefined)
    report(at, "The field 'RoleArn' is required but was missing");
}

function checkWait({ state, at, language }: Subject, { report }: Context): void {
  const { Timestamp: timestamp } = state;
  const isComputed = language === "JSONata" && expressionOf(timestamp) !== undefined;
  if (typeof timestamp === "string" && !isComputed && parseTimestamp(timestamp) === undefined)
    report(`${at}/Timestamp`, "String does not match RFC3339 timestamp");
}

function checkParallel({ state, at }: Subject, context: Context): void {
  const branches = state.Branches;
  if (!Array.isArray(branches) || branches.length === 0)
    return context.report(`${at}/Branches`, "Value cannot be empty");
  (branches as readonly Json[]).forEach((branch, i) => {
    const location = `${at}/Branches[${i}]`;
    if (isObject(branch)) checkMachine(branch, location, context);
    else context.report(location, "A branch must be a JSON object");
  });
}

function checkMap({ state, at }: Subject, context: Context): void {
  const { report, type, names } = context;
  const field = processorField(state);
  const processor = state[field];
  if (processor === undefined) return;
  if (!isObject(processor)) return report(`${at}/${field}`, "Expected value of type Object");
  const { Mode: mode, ExecutionType: childType } = configOf(state);
  const isDistributed = mode === "DISTRIBUTED";
  if (isDistributed && type === "EXPRESS")
    report(
      `${at}/${field}/ProcessorConfig/Mode`,
      "The field 'Mode' with value 'DISTRIBUTED' is not supported inside 'EXPRESS' state machines",
    );
  checkLabel(state.Label, `${at}/Label`, names, report);
  const inner = isDistributed && childType === "EXPRESS" ? "EXPRESS" : type;
  checkMachine(processor, `${at}/${field}`, { ...context, type: inner });
}
