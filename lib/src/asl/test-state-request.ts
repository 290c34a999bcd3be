// What TestState refuses before it evaluates anything.
import type { Json, JsonObject } from "./contract.ts";
import { readJson } from "./limits.ts";
import { isObject } from "./path/evaluate.ts";

export type TestStateErrorCode = "ValidationException" | "InvalidDefinition" | "InvalidExecutionInput";

/** A refused request; code and message as AWS gives them. */
export class TestStateError extends Error {
  readonly code: TestStateErrorCode;

  constructor(code: TestStateErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** The JSON of a member. Throws a TestStateError that names it. */
export function readMember(
  text: string | undefined,
  member: string,
  code: TestStateErrorCode = "ValidationException",
): Json {
  try {
    return readJson(text ?? "{}");
  } catch (error) {
    throw new TestStateError(code, `${member} must be JSON: ${(error as Error).message.slice(0, 200)}`);
  }
}

/** The same where it must be an object. */
export function readObject(text: string | undefined, member: string): JsonObject {
  const value = readMember(text, member);
  if (isObject(value)) return value;
  throw new TestStateError("ValidationException", `${member} must be a JSON object`);
}

const contextFields: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Execution: {
    Id: "string",
    Input: "any",
    Name: "string",
    RoleArn: "string",
    StartTime: "string",
    RedriveCount: "number",
    RedriveTime: "string",
  },
  State: { EnteredTime: "string", Name: "string", RetryCount: "number" },
  StateMachine: { Id: "string", Name: "string" },
  Task: { Token: "string" },
};

const refuse = (message: string): never => {
  throw new TestStateError("ValidationException", `Invalid Context object provided: ${message}`);
};

/** The given context object, checked field by field; undefined where none was given. */
export function checkContext(text: string | undefined): JsonObject | undefined {
  if (text === undefined || text === "") return undefined;
  const context = readMember(text, "context");
  if (!isObject(context)) return refuse("must be a JSON object");
  for (const [part, fields] of Object.entries(context)) {
    if (part === "Map") return refuse("'Map' field is not supported when mocking a Context object");
    const known = Object.hasOwn(contextFields, part)
      ? contextFields[part]!
      : refuse(`Field '${part}' is not allowed`);
    for (const [name, value] of isObject(fields) ? Object.entries(fields) : [])
      checkField(part, name, value, known);
  }
  return context;
}

function checkField(part: string, name: string, value: Json, known: Readonly<Record<string, string>>): void {
  const type = Object.hasOwn(known, name) ? known[name]! : refuse(`Field '${part}.${name}' is not allowed`);
  if (type !== "any" && typeof value !== type) refuse(`${part}.${name} must be a ${type}`);
}
