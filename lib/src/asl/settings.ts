// Numbers that a state takes from a literal, a path or an expression: seconds, limits, concurrency.
import { unexpectedType } from "./choice.ts";
import type { Json } from "./contract.ts";
import { queryFailure, runtimeFailure } from "./failure.ts";
import type { Setting } from "./parse.ts";
import { type Asking, type Scope, valueOf } from "./query/query.ts";

/** A whole number, or a failure that names field and value. */
export function* integerOf(setting: Setting, scope: Scope): Asking<number> {
  const value = yield* numberOf(setting, scope);
  if (Number.isInteger(value)) return value;
  throw notInteger(setting, value);
}

export function* numberOf(setting: Setting, scope: Scope): Asking<number> {
  const value = yield* valueOf(setting.query, scope);
  if (typeof value === "number") return value;
  if (setting.byPath && typeof value === "string" && /^-?\d+(\.\d+)?$/.test(value)) return Number(value);
  throw setting.byPath
    ? notInteger(setting, value)
    : queryFailure(unexpectedType(setting.text, setting.field, "number", value), setting.field);
}

const notInteger = (setting: Setting, value: Json) => {
  const cause = `The ${setting.field} field refers to value "${typeof value === "string" ? value : JSON.stringify(value)}" which is not a valid integer: ${setting.text}`;
  return setting.byPath
    ? runtimeFailure(cause)
    : queryFailure(unexpectedType(setting.text, setting.field, "integer", value), setting.field);
};
