// One text for one request, whoever wrote it: keys sorted at every level, nothing left out, built as text so that a
// key such as `__proto__` is a key like any other. Two requests have the same hash exactly if they are the same JSON.
import { hash } from "node:crypto";
import { isStorable } from "../core/text.ts";
import { ledgerErrors } from "./contract.ts";

const invalid = (what: string) =>
  ledgerErrors.error("TUNTAS_REQUEST_INVALID", `expected a JSON value, got ${what}`);

function canonicalNumber(value: number): string {
  if (!Number.isFinite(value)) throw invalid(String(value));
  return JSON.stringify(value);
}

function canonicalObject(value: object, within: readonly object[]): string {
  if (within.includes(value)) throw invalid("a value that contains itself");
  const deeper = [...within, value];
  if (Array.isArray(value)) return `[${value.map((item) => canonicalOf(item, deeper) ?? "null").join(",")}]`;
  const members = Object.keys(value)
    .toSorted()
    .map((key) => [key, canonicalOf((value as Record<string, unknown>)[key], deeper)] as const)
    .filter(([, text]) => text !== undefined);
  return `{${members.map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(",")}}`;
}

function canonicalOf(value: unknown, within: readonly object[]): string | undefined {
  if (value === undefined) return undefined;
  if (value === null || typeof value === "boolean" || typeof value === "string") return JSON.stringify(value);
  if (typeof value === "number") return canonicalNumber(value);
  if (typeof value !== "object") throw invalid(`a ${typeof value}`);
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === "function") return canonicalOf(toJSON.call(value), within);
  return canonicalObject(value, within);
}

/** The value as canonical JSON text; undefined stands for null. Errors: TUNTAS_REQUEST_INVALID. */
export const canonicalText = (value: unknown): string => canonicalOf(value, []) ?? "null";

/** The request's hash, the same for the same JSON in any key order. Numbers beyond 2^53 must come as strings. */
export const requestHash = (value: unknown): string => hash("sha256", canonicalText(value), "base64url");

/** The value as JSON text in its own key order, as results are stored. Errors: TUNTAS_REQUEST_INVALID. */
export function resultText(value: unknown): string {
  canonicalText(value);
  return JSON.stringify(value) ?? "null";
}

/** Checks a part of a key that a person or a caller chose. Errors: TUNTAS_REQUEST_INVALID. */
export function checkKey(name: string, value: unknown): void {
  if (typeof value === "string" && value.length > 0 && value.length <= 512 && isStorable(value)) return;
  const came = typeof value === "string" ? `${value.length} characters` : typeof value;
  throw ledgerErrors.error(
    "TUNTAS_REQUEST_INVALID",
    `${name}: expected 1 to 512 characters without NUL, got ${came}`,
  );
}

/**
 * The key of a mutating step from what stays the same at every retry: execution and state, command and participant, or
 * case, transition and version. Parts cannot run into each other.
 */
export function stepKey(...parts: readonly [string, string, ...string[]]): string {
  for (const part of parts) checkKey("a part of the step's key", part);
  return parts.map(encodeURIComponent).join("/");
}
