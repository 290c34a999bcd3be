// What an expression came to, as data. Its parts may be shared, so that what looks small is larger than any memory once it
// is written: the room that it takes is counted on the way.
import type { Json } from "../contract.ts";
import { setField } from "../json.ts";
import { Room } from "./room.ts";

/**
 * Plain data out of a result, or undefined where it holds what JSON cannot, a function say. What is found is counted. Numbers
 * that JSON has no word for become texts, as AWS has it: "Infinity", "NaN".
 */
export function asJson(value: unknown, room: Room): Json | undefined {
  room.spend(typeof value === "string" ? value.length + 2 : 4);
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (Array.isArray(value)) return asArray(value, room);
  if (
    typeof value !== "object" ||
    value === null ||
    "_jsonata_function" in value ||
    "_jsonata_lambda" in value
  )
    return undefined;
  return asObject(value, room);
}

function asArray(value: readonly unknown[], room: Room): Json | undefined {
  const items: Json[] = [];
  for (const each of value) {
    const item = asJson(each, room);
    if (item === undefined) return undefined;
    items.push(item);
  }
  return items;
}

function asObject(value: object, room: Room): Json | undefined {
  const result: Record<string, Json> = {};
  for (const [key, each] of Object.entries(value)) {
    const item = asJson(each, room);
    if (item === undefined) return undefined;
    room.spend(key.length);
    setField(result, key, item);
  }
  return result;
}

/** The same with room of its own. Throws States.DataLimitExceeded. */
export const plainJson = (value: unknown): Json | undefined => asJson(value, new Room());
