// Plain data, in which a key `__proto__` is data like any other.
import type { Json } from "./contract.ts";

/** Sets an own field whatever its name. */
export function setField(target: Record<string, Json>, key: string, value: Json): void {
  if (key === "__proto__")
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  else target[key] = value;
}

const copyEach = (value: Json): Json => copyOf(value);

/** A copy that shares nothing with the original. */
export function copyOf(value: Json): Json {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return (value as readonly Json[]).map(copyEach);
  const copy: Record<string, Json> = {};
  for (const key of Object.keys(value)) setField(copy, key, copyOf((value as { [key: string]: Json })[key]!));
  return copy;
}

/** Texts, and the marks around them that matter; whatever else stands in JSON is passed over. */
const token = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:]/gs;

/** The first key that an object has twice, of which JSON.parse kept the last; undefined where there is none. Of valid JSON. */
export function duplicateKey(text: string): string | undefined {
  const open: (Set<string> | undefined)[] = [];
  let last = "";
  for (const [found] of text.matchAll(token)) {
    if (found === "{") open.push(new Set());
    else if (found === "[") open.push(undefined);
    else if (found === "}" || found === "]") open.pop();
    else if (found === ":") {
      const keys = open.at(-1);
      if (keys?.has(last)) return unquoted(last);
      keys?.add(last);
    }
    last = found;
  }
  return undefined;
}

const unquoted = (text: string): string => text.slice(1, -1);
