// The mock of a TestState: whether the state takes one, and whether its result looks like what the service returns.
import type { Failure, Json, JsonObject } from "./contract.ts";
import { readJson } from "./limits.ts";
import { isObject } from "./path/evaluate.ts";
import type { StateSpec } from "./parse.ts";
import { resourceOf } from "./states/task.ts";
import { shapeOf, type Shape } from "./mock-shapes.ts";
import { TestStateError } from "./test-state-request.ts";

export interface Mock {
  readonly result?: string;
  readonly errorOutput?: Failure;
  readonly fieldValidationMode?: "STRICT" | "PRESENT" | "NONE";
}

const refuse = (message: string): never => {
  throw new TestStateError("ValidationException", message);
};

/** Throws a TestStateError where the state needs a mock and has none, has one and takes none, or has a wrong one. */
export function checkMock(spec: StateSpec, mock: Mock | undefined): void {
  const isContainer = spec.type === "Map" || spec.type === "Parallel";
  if (!mock && isContainer) {
    throw new TestStateError(
      "InvalidDefinition",
      "TestState API does not support Map or Parallel states. Supported state types include: [Task, Wait, Pass, Succeed, Fail, Choice]",
    );
  }
  if (!mock) return checkUnmocked(spec);
  if (mock.result !== undefined && mock.errorOutput !== undefined)
    refuse("A test mock should have only one of the following fields: [result, errorOutput].");
  if (!isContainer && spec.type !== "Task")
    refuse(`State type '${spec.type}' is not supported when a mock is specified`);
  if (mock.result !== undefined) checkResult(spec, parse(mock.result), mock.fieldValidationMode ?? "STRICT");
}

/** Nobody answers a token or tells of a job's end while one state is tested. */
function checkUnmocked({ type, resource }: StateSpec): void {
  if (type !== "Task") return;
  const { kind, pattern } = resourceOf(resource!);
  if (kind !== "activity" && pattern === "requestResponse") return;
  throw new TestStateError(
    "InvalidDefinition",
    "TestState API does not support Activity tasks, .sync or .waitForTaskToken service integration patterns unless a mock is specified",
  );
}

function parse(text: string): Json {
  try {
    return readJson(text);
  } catch {
    return refuse("Mocked result must be valid JSON");
  }
}

function checkResult(spec: StateSpec, result: Json, mode: string): void {
  if (spec.map?.writer && !isObject(result)) refuse("Mocked result must be a JSON object.");
  if (spec.type !== "Task" && !spec.map?.writer && !Array.isArray(result))
    refuse("Mocked result must be an array.");
  if (spec.type !== "Task" || mode === "NONE") return;
  const { kind, type, action } = resourceOf(spec.resource!);
  const shape = kind === "service" ? shapeOf(type, action) : undefined;
  if (shape) checkShape("", result, shape, mode === "STRICT");
}

const wrong = (message: string): never => refuse(`Mock result schema validation error: ${message}`);

function checkShape(name: string, value: Json, shape: Shape, strict: boolean): void {
  switch (shape.is) {
    case "string":
      return typeof value === "string"
        ? checkText(name, value, shape)
        : wrong(`Field '${name}' must be a string`);
    case "number":
      return typeof value === "number"
        ? checkNumber(name, value, shape)
        : wrong(`Field '${name}' must be a number`);
    case "list":
      if (!Array.isArray(value)) return wrong(`Field '${name}' must be an array`);
      return (value as readonly Json[]).forEach((each) => checkShape(name, each, shape.of, strict));
    case "object":
      return isObject(value) ? checkFields(value, shape, strict) : wrong(`Field '${name}' must be an object`);
  }
}

function checkText(
  name: string,
  value: string,
  { minLength = 0, oneOf }: Extract<Shape, { is: "string" }>,
): void {
  if (value.length < minLength) wrong(`Field '${name}' is smaller than the minimum length`);
  if (oneOf && !oneOf.includes(value)) wrong(`Field '${name}' is not an expected value`);
}

function checkNumber(
  name: string,
  value: number,
  { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY }: Extract<Shape, { is: "number" }>,
): void {
  if (value < min) wrong(`Field '${name}' is less than the minimum value`);
  if (value > max) wrong(`Field '${name}' exceeds the maximum value`);
}

function checkFields(
  value: JsonObject,
  { fields, required = [] }: Extract<Shape, { is: "object" }>,
  strict: boolean,
): void {
  const missing = strict ? required.find((name) => value[name] === undefined) : undefined;
  if (missing !== undefined) wrong(`Required field '${missing}' is missing`);
  for (const [name, each] of Object.entries(value))
    if (Object.hasOwn(fields, name)) checkShape(name, each, fields[name]!, strict);
}
