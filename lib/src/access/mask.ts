// Payloads with what only some may see taken out. Which fields those are, the schema says (`sensitive: true` in the JSON
// Schema that it describes itself by, or `writeOnly`, or the format `password`), or the declaration, by paths.
import { jsonSchemaOf, type Schema } from "../core/schema.ts";
import type { Role } from "./contract.ts";
import { may } from "./state.ts";

/** What stands in the place of a value that is not shown. */
export const masked = "•••";

/** `customer.email`; `*` stands for every element of a list or member of an object. */
export type Path = string;

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

const own = (value: { readonly [name: string]: Json }): [string, Json][] => Object.entries(value);

/** The paths that go on below this member, each without its first step. */
const below = (paths: readonly (readonly string[])[], name: string): string[][] =>
  paths.filter(([step]) => step === name || step === "*").map((path) => path.slice(1));

function cover(value: Json, paths: readonly (readonly string[])[]): Json {
  if (paths.some((path) => path.length === 0)) return masked;
  if (paths.length === 0 || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value))
    return value.map((element: Json, index) => cover(element, below(paths, String(index))));
  return Object.fromEntries(
    own(value as { readonly [name: string]: Json }).map(([name, member]) => [
      name,
      cover(member, below(paths, name)),
    ]),
  );
}

/** Hides the fields at these paths, whoever looks. */
export const hide = (value: unknown, paths: readonly Path[]): unknown =>
  cover(
    value as Json,
    paths.map((path) => path.split(".")),
  );

/** The value as the role may see it: sensitive fields only for who may reveal payloads and asked to. */
export const mask = (
  value: unknown,
  paths: readonly Path[],
  { role, reveal = false }: { readonly role: Role; readonly reveal?: boolean },
): unknown => (reveal && may(role, "payload.reveal") ? value : hide(value, paths));

/** The same for a text that should be JSON; one that is not is hidden whole where anything of it is sensitive. */
export function maskText(
  text: string,
  paths: readonly Path[],
  who: { readonly role: Role; readonly reveal?: boolean },
): string {
  if (paths.length === 0 || (who.reveal && may(who.role, "payload.reveal"))) return text;
  try {
    return JSON.stringify(mask(JSON.parse(text), paths, who));
  } catch {
    return masked;
  }
}

interface JsonSchema {
  readonly sensitive?: unknown;
  readonly writeOnly?: unknown;
  readonly format?: unknown;
  readonly $ref?: unknown;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema | boolean;
  readonly prefixItems?: readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
}

const depthMax = 12;

/** The sensitive paths of a JSON Schema. A schema that refers to itself is followed 12 levels down. */
export function pathsOfJsonSchema(root: JsonSchema): Path[] {
  const resolve = (schema: JsonSchema): JsonSchema =>
    typeof schema.$ref === "string"
      ? (root.$defs?.[schema.$ref.replace(/^#\/\$defs\//, "")] ?? root)
      : schema;

  function walk(given: JsonSchema | boolean | undefined, at: readonly string[]): string[] {
    if (typeof given !== "object" || at.length > depthMax) return [];
    if (given.sensitive === true || given.writeOnly === true || given.format === "password")
      return [at.join(".")];
    const schema = resolve(given);
    const choices = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
    return [
      ...Object.entries(schema.properties ?? {}).flatMap(([name, each]) => walk(each, [...at, name])),
      ...walk(schema.additionalProperties, [...at, "*"]),
      ...walk(schema.items, [...at, "*"]),
      ...(schema.prefixItems ?? []).flatMap((each, index) => walk(each, [...at, String(index)])),
      ...choices.flatMap((each) => walk(each, at)),
    ];
  }
  return [...new Set(walk(root, []))].toSorted();
}

/** The sensitive paths of a schema that describes itself; one that cannot names its paths in the declaration. */
export function pathsOf(schema: Schema): Path[] {
  const described = jsonSchemaOf(schema);
  return described ? pathsOfJsonSchema(described) : [];
}
