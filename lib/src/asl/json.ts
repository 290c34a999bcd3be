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
