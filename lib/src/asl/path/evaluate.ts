// Walks a parsed path over data. A definite path that finds nothing is an error whose text is Jayway's; any other path
// gives the list of what it finds, possibly empty.
import type { Json, JsonObject } from "../contract.ts";
import type { FilterNode, FilterOperand, Path, PathSegment } from "./parse.ts";

export class PathMissing extends Error {}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** An own field, so that `__proto__` and `constructor` are ordinary names. */
export const field = (value: JsonObject, name: string): Json | undefined =>
  Object.hasOwn(value, name) ? value[name] : undefined;

export function readPath(path: Path, root: Json): Json {
  return path.definite ? readDefinite(path, root) : collect(path.segments, [root], root);
}

/** As `readPath`, but undefined where a definite path finds nothing. */
export function findPath(path: Path, root: Json): Json | undefined {
  if (!path.definite) return collect(path.segments, [root], root);
  let value: Json | undefined = root;
  for (const segment of path.segments) {
    value = child(segment, value);
    if (value === undefined) return undefined;
  }
  return value;
}

function readDefinite(path: Path, root: Json): Json {
  let value = root;
  const { segments } = path;
  for (let i = 0; i < segments.length; i++) {
    const next = child(segments[i]!, value);
    if (next === undefined) throw new PathMissing(missingText(segments, i, value));
    value = next;
  }
  return value;
}

function child(segment: PathSegment, value: Json): Json | undefined {
  if (segment.kind === "field") return isObject(value) ? field(value, segment.name) : undefined;
  if (segment.kind === "index")
    return Array.isArray(value) ? (value as readonly Json[]).at(segment.index) : undefined;
  if (segment.kind === "function") return aggregate(segment.name, value);
  return undefined;
}

/** Jayway tells a missing leaf from a missing step on the way. */
function missingText(segments: readonly PathSegment[], at: number, value: Json): string {
  const written = segments
    .slice(0, at + 1)
    .map(written1)
    .join("");
  const segment = segments[at]!;
  if (segment.kind === "field" && !isObject(value)) {
    const before = `$${segments.slice(0, at).map(written1).join("")}`;
    return `Expected to find an object with property ['${segment.name}'] in path ${before} but found '${javaType(value)}'. This is not a json object according to the JsonProvider: 'com.jayway.jsonpath.spi.json.JacksonJsonNodeJsonProvider'.`;
  }
  return at === segments.length - 1
    ? `No results for path: $${written}`
    : `Missing property in path $${written}`;
}

const written1 = (segment: PathSegment): string =>
  segment.kind === "field" ? `['${segment.name}']` : segment.kind === "index" ? `[${segment.index}]` : "";

function javaType(value: Json): string {
  const node = Array.isArray(value)
    ? "ArrayNode"
    : value === null
      ? "NullNode"
      : typeof value === "string"
        ? "TextNode"
        : "ValueNode";
  return `com.fasterxml.jackson.databind.node.${node}`;
}

function collect(segments: readonly PathSegment[], values: readonly Json[], root: Json): Json {
  let found = values;
  for (const segment of segments) {
    if (segment.kind === "function") return aggregate(segment.name, found) ?? null;
    found = found.flatMap((value) => select(segment, value, root));
  }
  return found;
}

function select(segment: PathSegment, value: Json, root: Json): readonly Json[] {
  switch (segment.kind) {
    case "wildcard":
      return Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [];
    case "slice":
      return Array.isArray(value) ? (value as readonly Json[]).slice(segment.from ?? 0, segment.to) : [];
    case "indexes":
      return segment.indexes.flatMap((index) => optional(child({ kind: "index", index }, value)));
    case "fields":
      return pick(segment.names, value);
    case "filter":
      return candidates(value).filter((item) => passes(segment.test, item, root));
    case "scan":
      return descendants(value).flatMap((each) => select(segment.inner, each, root));
    default:
      return optional(child(segment, value));
  }
}

const optional = (value: Json | undefined): readonly Json[] => (value === undefined ? [] : [value]);
const candidates = (value: Json): readonly Json[] => (Array.isArray(value) ? value : [value]);

function pick(names: readonly string[], value: Json): readonly Json[] {
  if (!isObject(value)) return [];
  const present = names.filter((name) => Object.hasOwn(value, name));
  return present.length === 0 ? [] : [Object.fromEntries(present.map((name) => [name, value[name]!]))];
}

function descendants(value: Json): Json[] {
  const found: Json[] = [];
  const waiting: Json[] = [value];
  while (waiting.length > 0) {
    const each = waiting.shift()!;
    found.push(each);
    if (Array.isArray(each)) waiting.push(...(each as readonly Json[]));
    else if (isObject(each)) waiting.push(...Object.values(each));
  }
  return found;
}

function passes(test: FilterNode, item: Json, root: Json): boolean {
  if (test.kind === "or") return passes(test.left, item, root) || passes(test.right, item, root);
  if (test.kind === "and") return passes(test.left, item, root) && passes(test.right, item, root);
  if (test.kind === "not") return !passes(test.inner, item, root);
  if (test.kind === "exists") return operandValue(test.operand, item, root) !== undefined;
  return compare(test.operator, operandValue(test.left, item, root), operandValue(test.right, item, root));
}

function operandValue(operand: FilterOperand, item: Json, root: Json): unknown {
  if (operand.kind === "value") return operand.value;
  const found = collect(operand.segments, [operand.root === "@" ? item : root], root);
  return Array.isArray(found) ? (found as readonly Json[])[0] : found;
}

function compare(operator: string, left: unknown, right: unknown): boolean {
  if (operator === "==") return same(left, right);
  if (operator === "!=") return !same(left, right);
  if (operator === "in") return Array.isArray(right) && right.some((each) => same(each, left));
  if (operator === "nin") return Array.isArray(right) && !right.some((each) => same(each, left));
  if (operator === "=~") return right instanceof RegExp && typeof left === "string" && right.test(left);
  if (typeof left !== typeof right || (typeof left !== "number" && typeof left !== "string")) return false;
  const order = left < (right as typeof left) ? -1 : left > (right as typeof left) ? 1 : 0;
  return operator === "<"
    ? order < 0
    : operator === "<="
      ? order <= 0
      : operator === ">"
        ? order > 0
        : order >= 0;
}

const same = (left: unknown, right: unknown): boolean =>
  left === right || JSON.stringify(left) === JSON.stringify(right);

function aggregate(name: string, value: Json): Json | undefined {
  if (name === "length")
    return Array.isArray(value) ? value.length : isObject(value) ? Object.keys(value).length : undefined;
  if (name === "keys") return isObject(value) ? Object.keys(value) : undefined;
  if (!Array.isArray(value)) return undefined;
  const items = value as readonly Json[];
  if (name === "first") return items[0];
  if (name === "last") return items.at(-1);
  return statistic(
    name,
    items.filter((item) => typeof item === "number"),
  );
}

function statistic(name: string, numbers: readonly number[]): Json | undefined {
  if (numbers.length === 0) return undefined;
  const sum = numbers.reduce((total, each) => total + each, 0);
  const mean = sum / numbers.length;
  const results: Record<string, number> = {
    sum,
    avg: mean,
    min: numbers.reduce((a, b) => Math.min(a, b)),
    max: numbers.reduce((a, b) => Math.max(a, b)),
    stddev: Math.sqrt(numbers.reduce((total, each) => total + (each - mean) ** 2, 0) / numbers.length),
  };
  return results[name];
}
