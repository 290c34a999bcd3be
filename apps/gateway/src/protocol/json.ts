// AWS JSON 1.0: the operation stands in X-Amz-Target, input and output are one JSON object each.
import { isUtf8 } from "node:buffer";
import type { Shape, Structure } from "../shape.ts";
import { isBase64 } from "../shape.ts";
import { genericErrors, WireError } from "../wire.ts";

export const jsonType = "application/x-amz-json-1.0";

const refuse = (message: string): WireError => new WireError(genericErrors.serialization, message);

const typeName = (value: unknown): string =>
  value === null
    ? "null"
    : Array.isArray(value)
      ? "a list"
      : `a ${typeof value}`.replace("a object", "an object");

const wanted: Record<Shape["kind"], string> = {
  string: "a string",
  integer: "an integer",
  float: "a number",
  boolean: "a boolean",
  blob: "base64 text",
  list: "a list",
  map: "an object",
  structure: "an object",
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const fits: Record<Shape["kind"], (value: unknown) => boolean> = {
  string: (value) => typeof value === "string",
  integer: (value) => Number.isSafeInteger(value),
  float: (value) => Number.isFinite(value),
  boolean: (value) => typeof value === "boolean",
  blob: (value) => typeof value === "string" && isBase64(value),
  list: Array.isArray,
  map: isObject,
  structure: isObject,
};

/**
 * Checks the value where it lies, so that a large body is not copied. Members and entries that are null count as absent, and
 * members that the shape does not have are taken out: whoever reads the input, be it to say who may, sees what the operation sees.
 */
function check(shape: Shape, value: unknown, name: string, index?: number): void {
  const where = () => (index === undefined ? name : `${name}[${index}]`);
  if (!fits[shape.kind](value))
    throw refuse(`${where()} must be ${wanted[shape.kind]}, got ${typeName(value)}.`);
  if (shape.kind === "list") {
    (value as unknown[]).forEach((entry, at) => check(shape.of, entry, where(), at));
  } else if (shape.kind === "map") {
    const entries = value as Record<string, unknown>;
    for (const key of Object.keys(entries)) {
      if (entries[key] === null) delete entries[key];
      else check(shape.of, entries[key], `${where()}.${key}`);
    }
  } else if (shape.kind === "structure") {
    const members = value as Record<string, unknown>;
    for (const own of Object.keys(members)) {
      const member = Object.hasOwn(shape.members, own) ? shape.members[own] : undefined;
      if (!member || members[own] === null) delete members[own];
      else check(member, members[own], own);
    }
  }
}

function parse(body: Buffer): unknown {
  if (!isUtf8(body)) throw refuse("The request body is not valid UTF-8.");
  try {
    return JSON.parse(body.toString());
  } catch {
    throw refuse("The request body is not valid JSON.");
  }
}

/**
 * The input of an operation, of which some members may have come otherwise than in the body. Errors:
 * SerializationException.
 */
export function decodeJson(
  shape: Structure,
  body: Buffer,
  elsewhere: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  const value = body.length === 0 ? {} : parse(body);
  const given = isObject(value) ? Object.assign(value, elsewhere) : value;
  check(shape, given, "The request");
  return given as Record<string, unknown>;
}

export const renderJson = (result: object | void): string =>
  result === undefined ? "" : JSON.stringify(result);

export const renderJsonError = ({ kind, message }: WireError): string =>
  JSON.stringify({ __type: `${kind.namespace}#${kind.shape}`, message });

export const fault = (status: number): "Sender" | "Receiver" => (status >= 500 ? "Receiver" : "Sender");
