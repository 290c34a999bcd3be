// Numbers that a state takes from a literal, a path or an expression: seconds, limits, concurrency.
import { unexpectedType } from "./choice.ts";
import type { Json } from "./contract.ts";
import { queryFailure, runtimeFailure } from "./failure.ts";
import { limits } from "./limits.ts";
import type { Setting } from "./parse.ts";
import { type Asking, type Scope, valueOf } from "./query/query.ts";

/** A whole number, or a failure that names field and value. */
export function* integerOf(setting: Setting, scope: Scope): Asking<number> {
  const value = yield* numberOf(setting, scope, "integer");
  if (Number.isInteger(value)) return value;
  throw isNot("integer", setting, value);
}

/** A time that a clock can be set to. */
export function* secondsOf(setting: Setting, scope: Scope): Asking<number> {
  const seconds = yield* integerOf(setting, scope);
  if (seconds <= limits.waitSeconds) return seconds;
  throw runtimeFailure(
    `The ${setting.field} field must be at most ${limits.waitSeconds} seconds, got ${seconds}.`,
  );
}

export function* numberOf(
  setting: Setting,
  scope: Scope,
  kind: "integer" | "float" = "float",
): Asking<number> {
  const value = yield* valueOf(setting.query, scope);
  if (typeof value === "number") return value;
  if (setting.byPath && typeof value === "string" && /^-?\d+(\.\d+)?$/.test(value)) return Number(value);
  throw setting.byPath
    ? isNot(kind, setting, value)
    : queryFailure(unexpectedType(setting.text, setting.field, "number", value), setting.field);
}

const isNot = (kind: "integer" | "float", setting: Setting, value: Json) => {
  const cause = `The ${setting.field} field refers to value "${typeof value === "string" ? value : JSON.stringify(value)}" which is not a valid ${kind}: ${setting.text}`;
  return setting.byPath
    ? runtimeFailure(cause)
    : queryFailure(unexpectedType(setting.text, setting.field, "integer", value), setting.field);
};
