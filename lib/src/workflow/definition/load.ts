// A definition as it is declared: a file in JSON or YAML, an object, or what the builder made. Placeholders are filled in
// as CloudFormation's DefinitionSubstitutions are, and names of handlers become function ARNs, so that the text that
// is kept is one that AWS takes too.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parse as parseYaml } from "yaml";
import type { Json, JsonObject } from "../../asl/contract.ts";
import { invalidDefinitionMessage, validateDefinition } from "../../asl/index.ts";
import { defaultScope } from "../../queue/contract.ts";
import type { Schema } from "../../core/schema.ts";
import { workflowErrors, type ExecutionType } from "../contract.ts";
import type { Task } from "../declaration.ts";
import { parametersOf, tasksOf } from "./functions.ts";

/** What the builder has made: a definition, with the handlers and the schema that it was built with. */
export interface Built<in Start = never> {
  readonly definition: JsonObject;
  readonly tasks: Readonly<Record<string, Task>>;
  readonly input: Schema<any, any> | undefined;
  /** What it is started with; there is no value. */
  readonly starts?: (input: Start) => void;
}

export type DefinitionSource = string | URL | JsonObject | Built;

export interface LoadOptions {
  readonly type: ExecutionType;
  readonly substitutions: Readonly<Record<string, Json>>;
  /** Names of the handlers. */
  readonly tasks: readonly string[];
}

const wrong = (subject: string, message: string): Error =>
  workflowErrors.error("TUNTAS_WORKFLOW_DEFINITION", `workflow ${subject}: ${message}`);

function readText(name: string, source: string | URL): string {
  try {
    return readFileSync(source instanceof URL ? fileURLToPath(source) : source, "utf8");
  } catch (cause) {
    const where =
      source instanceof URL
        ? `expected a file at ${source.href}`
        : `expected a file at ${source}, seen from ${process.cwd()}; new URL(${JSON.stringify(source)}, import.meta.url) names one beside the module`;
    throw workflowErrors.error(
      "TUNTAS_WORKFLOW_DEFINITION",
      `workflow ${JSON.stringify(name)}: ${where}, got ${(cause as Error).message}`,
    );
  }
}

function readFile(name: string, source: string | URL): Json {
  const text = readText(name, source);
  const isYaml = /\.ya?ml$/.test(source instanceof URL ? source.pathname : source);
  try {
    return (isYaml ? parseYaml(text) : JSON.parse(text)) as Json;
  } catch (cause) {
    throw wrong(subjectOf(name, source), `expected ${isYaml ? "YAML" : "JSON"}: ${(cause as Error).message}`);
  }
}

function objectOf(name: string, source: DefinitionSource): JsonObject {
  if (typeof source === "string" || source instanceof URL) return readFile(name, source) as JsonObject;
  return "definition" in source && !("States" in source)
    ? (source as Built).definition
    : (source as JsonObject);
}

/** A document out of a file, as it is written. Errors: TUNTAS_WORKFLOW_DEFINITION. */
export const readDefinition = (file: string): JsonObject => readFile(file, file) as JsonObject;

const placeholder = /\$\{([A-Za-z0-9_.]+)\}/g;

/** Every text of the value, changed. A text that is one placeholder and nothing else may become any value. */
function mapTexts(value: Json, change: (text: string) => Json): Json {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((each: Json) => mapTexts(each, change));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value as JsonObject).map(([key, each]) => [key, mapTexts(each, change)]),
  );
}

function fill(text: string, values: Readonly<Record<string, Json>>): Json {
  const whole = /^\$\{([A-Za-z0-9_.]+)\}$/.exec(text)?.[1];
  if (whole !== undefined && Object.hasOwn(values, whole)) return values[whole]!;
  return text.replaceAll(placeholder, (all, name: string) => {
    if (!Object.hasOwn(values, name)) return all;
    const value = values[name]!;
    return typeof value === "string" ? value : JSON.stringify(value);
  });
}

/** The ARN that a function of this name has on AWS, in the account and region of the database. */
export const functionArn = (name: string): string =>
  `arn:aws:lambda:${defaultScope.region}:${defaultScope.account}:function:${name}`;

/** A handler's bare name as a Task's Resource becomes its ARN. */
function nameHandlers(value: Json, tasks: ReadonlySet<string>): Json {
  if (Array.isArray(value)) return value.map((each: Json) => nameHandlers(each, tasks));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value as JsonObject).map(([key, each]): [string, Json] => [
    key,
    nameHandlers(each, tasks),
  ]);
  const state = Object.fromEntries(entries);
  const { Type, Resource } = state;
  const isNamed = Type === "Task" && typeof Resource === "string" && tasks.has(Resource);
  return isNamed ? { ...state, Resource: functionArn(Resource) } : state;
}

/** The workflow with the file that its definition is read from, which is where a fault is mended. */
export const subjectOf = (name: string, source: DefinitionSource): string =>
  typeof source === "string" || source instanceof URL
    ? `${JSON.stringify(name)}, ${source instanceof URL ? fileURLToPath(source) : resolve(source)}`
    : JSON.stringify(name);

/** What was left open, or is meant for a handler that there is not; the language's own words for it would help nobody. */
function checkResources(subject: string, definition: JsonObject, tasks: readonly string[]): void {
  for (const { name: stateName, state } of tasksOf(definition)) {
    const { Resource: resource } = state;
    for (const text of [resource, parametersOf(state).FunctionName]) {
      const left = typeof text === "string" ? text.match(placeholder)?.[0] : undefined;
      if (left !== undefined)
        throw wrong(
          subject,
          `state ${stateName}: expected a value in \`substitutions\` (or a task) for ${left}`,
        );
    }
    if (typeof resource === "string" && !resource.startsWith("arn:"))
      throw wrong(
        subject,
        `state ${stateName}: expected an ARN or the name of a task (${tasks.join(", ") || "there are none"}), got ${resource}`,
      );
  }
}

/** The definition as it is kept. Errors: TUNTAS_WORKFLOW_DEFINITION. */
export function loadDefinition(name: string, source: DefinitionSource, options: LoadOptions): JsonObject {
  const given = objectOf(name, source);
  const values = {
    ...Object.fromEntries(options.tasks.map((task) => [task, functionArn(task)])),
    ...options.substitutions,
  };
  const filled = mapTexts(given, (text) => fill(text, values));
  const definition = nameHandlers(filled, new Set(options.tasks)) as JsonObject;
  const subject = subjectOf(name, source);
  checkResources(subject, definition, options.tasks);
  const errors = validateDefinition(JSON.stringify(definition), options.type).filter(
    ({ severity }) => severity === "ERROR",
  );
  if (errors.length > 0) throw wrong(subject, invalidDefinitionMessage(errors));
  return definition;
}
