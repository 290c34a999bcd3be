// What a form asks for, from a JSON Schema: one field for each member that one can type. The text is the truth: a form
// reads it and writes it, so that whoever changes to the text loses nothing.
import type { JsonSchema } from "../../../../api/index.ts";

export type Path = readonly string[];

export type FieldKind = "text" | "number" | "integer" | "flag" | "choice" | "json";

export interface Field {
  readonly path: Path;
  readonly kind: FieldKind;
  readonly required: boolean;
  /** What the schema says of it, in words. */
  readonly hint: string;
  readonly choices: readonly string[];
}

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

const depthMax = 4;
const fieldsMax = 60;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const asSchema = (value: unknown): JsonSchema => (isObject(value) ? value : {});

/** The schema itself where it refers to another of its document, or may be null. */
function plain(schema: JsonSchema, root: JsonSchema, depth = 0): JsonSchema {
  if (depth > depthMax) return {};
  const { $ref, anyOf, type } = schema;
  if (Array.isArray(type)) {
    const others = type.filter((each) => each !== "null");
    return { ...schema, type: others.length === 1 ? others[0] : undefined };
  }
  if (typeof $ref === "string" && $ref.startsWith("#/$defs/"))
    return plain(asSchema(asSchema(root.$defs)[$ref.slice("#/$defs/".length)]), root, depth + 1);
  if (!Array.isArray(anyOf)) return schema;
  const choices = anyOf.map(asSchema).filter(({ type }) => type !== "null");
  return choices.length === 1 ? plain(choices[0]!, root, depth + 1) : schema;
}

const kinds: Readonly<Record<string, FieldKind>> = {
  string: "text",
  number: "number",
  integer: "integer",
  boolean: "flag",
};

const textsOf = (value: unknown): string[] =>
  Array.isArray(value) && value.every((each) => typeof each === "string") ? (value as string[]) : [];

const choicesOf = ({ enum: values, const: only }: JsonSchema): string[] =>
  typeof only === "string" ? [only] : textsOf(values);

function kindOf(schema: JsonSchema): FieldKind {
  if (choicesOf(schema).length > 0) return "choice";
  return kinds[String(schema.type)] ?? "json";
}

function hintOf({ description, format, minimum, maximum, pattern }: JsonSchema): string {
  if (typeof description === "string") return description;
  if (typeof format === "string") return format;
  if (typeof pattern === "string") return `like ${pattern}`;
  // The bounds of every integer say nothing.
  const bounds = [minimum, maximum].filter(
    (bound) => typeof bound === "number" && Math.abs(bound) < Number.MAX_SAFE_INTEGER,
  );
  return bounds.length === 0
    ? ""
    : bounds.length === 2
      ? `${bounds[0]} to ${bounds[1]}`
      : `limit ${bounds[0]}`;
}

/** The fields of a schema in its order; none where it is no object, and then there is only the text. */
export function fieldsOf(root: JsonSchema): Field[] {
  function walk(given: JsonSchema, path: Path, required: boolean): Field[] {
    const schema = plain(given, root);
    const members = Object.entries(asSchema(schema.properties));
    if (schema.type === "object" && members.length > 0 && path.length < depthMax) {
      const wanted = textsOf(schema.required);
      return members.flatMap(([name, member]) =>
        walk(asSchema(member), [...path, name], required && wanted.includes(name)),
      );
    }
    return [{ path, required, kind: kindOf(schema), hint: hintOf(schema), choices: choicesOf(schema) }];
  }
  const fields = walk(root, [], true);
  return fields.length > fieldsMax || fields.some(({ path }) => path.length === 0) ? [] : fields;
}

export const parseObject = (text: string): Readonly<Record<string, Json>> | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? (value as Record<string, Json>) : undefined;
  } catch {
    return undefined;
  }
};

export const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((at, name) => (isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined), value);

/** The same with another value there; undefined takes the member away. */
export function withValue(value: unknown, [name, ...rest]: Path, next: unknown): unknown {
  if (name === undefined) return next;
  const { [name]: before, ...others } = asSchema(value);
  const after = withValue(before, rest, next);
  if (after === undefined) return others;
  return isObject(value) && Object.hasOwn(value, name)
    ? { ...value, [name]: after }
    : { ...others, [name]: after };
}

export const textOf = (value: unknown): string => JSON.stringify(value, null, 2);

function startOf({ kind, choices }: Field): unknown {
  if (kind === "text") return "";
  return kind === "choice" ? choices[0] : undefined;
}

/** What one begins with: the members that must be there, to be filled in. */
export function sampleOf(schema: JsonSchema | null): string {
  const wanted = schema === null ? [] : fieldsOf(schema).filter(({ required }) => required);
  return textOf(wanted.reduce<unknown>((value, field) => withValue(value, field.path, startOf(field)), {}));
}
