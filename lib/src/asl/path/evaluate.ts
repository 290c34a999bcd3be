// Walks a parsed path over data. A definite path that finds nothing is an error whose text is Jayway's; any other path
// gives the list of what it finds, possibly empty.
import type { Json, JsonObject } from "../contract.ts";
import { runtimeFailure } from "../failure.ts";
import type { FilterNode, FilterOperand, Path, PathSegment } from "./parse.ts";
import { Pattern } from "./pattern.ts";

export class PathMissing extends Error {}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** An own field, so that `__proto__` and `constructor` are ordinary names. */
export const field = (value: JsonObject, name: string): Json | undefined =>
  Object.hasOwn(value, name) ? value[name] : undefined;

export function readPath(path: Path, root: Json): Json {
  return path.definite
    ? readDefinite(path, root)
    : new Search(path.text, root).collect(path.segments, [root]);
}

/** As `readPath`, but undefined where a definite path finds nothing. */
export function findPath(path: Path, root: Json): Json | undefined {
  if (!path.definite) return new Search(path.text, root).collect(path.segments, [root]);
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

/** Values that one search may look at. The largest input has a hundred thousand; a scan within a scan would look at billions. */
const looksMax = 2_000_000;

/** One search through data, which ends with a failure where it would take too long: nobody could stop it in the engine's thread. */
class Search {
  readonly text: string;
  readonly root: Json;
  left = looksMax;

  constructor(text: string, root: Json) {
    this.text = text;
    this.root = root;
  }

  spend(looks: number): void {
    this.left -= looks;
    if (this.left < 0)
      throw runtimeFailure(`The path '${cut(this.text)}' looks at more than ${looksMax} values.`);
  }

  collect(segments: readonly PathSegment[], values: readonly Json[]): Json {
    let found = values;
    for (const segment of segments) {
      if (segment.kind === "function") return aggregate(segment.name, found) ?? null;
      const next: Json[] = [];
      for (const value of found) this.select(segment, value, next);
      found = next;
    }
    return found;
  }

  select(segment: PathSegment, value: Json, found: Json[]): void {
    this.spend(1);
    switch (segment.kind) {
      case "wildcard":
        return this.take(childrenOf(value), found);
      case "slice":
        return this.take(
          Array.isArray(value) ? (value as readonly Json[]).slice(segment.from ?? 0, segment.to) : [],
          found,
        );
      case "indexes":
        return this.take(
          segment.indexes.flatMap((index) => optional(child({ kind: "index", index }, value))),
          found,
        );
      case "fields":
        return this.take(pick(segment.names, value), found);
      case "filter":
        for (const item of candidates(value)) if (this.passes(segment.test, item)) found.push(item);
        return;
      case "scan":
        for (const each of this.descendants(value)) this.select(segment.inner, each, found);
        return;
      default:
        return this.take(optional(child(segment, value)), found);
    }
  }

  take(values: readonly Json[], found: Json[]): void {
    this.spend(values.length);
    for (const value of values) found.push(value);
  }

  descendants(value: Json): Json[] {
    const found: Json[] = [value];
    for (let i = 0; i < found.length; i++) this.take(childrenOf(found[i]!), found);
    return found;
  }

  passes(test: FilterNode, item: Json): boolean {
    this.spend(1);
    if (test.kind === "or") return this.passes(test.left, item) || this.passes(test.right, item);
    if (test.kind === "and") return this.passes(test.left, item) && this.passes(test.right, item);
    if (test.kind === "not") return !this.passes(test.inner, item);
    if (test.kind === "exists") return this.valueOf(test.operand, item) !== undefined;
    return this.compare(test.operator, this.valueOf(test.left, item), this.valueOf(test.right, item));
  }

  valueOf(operand: FilterOperand, item: Json): unknown {
    if (operand.kind === "value") return operand.value;
    const found = this.collect(operand.segments, [operand.root === "@" ? item : this.root]);
    return Array.isArray(found) ? (found as readonly Json[])[0] : found;
  }

  compare(operator: string, left: unknown, right: unknown): boolean {
    if (operator === "==") return this.same(left, right);
    if (operator === "!=") return !this.same(left, right);
    if (operator === "in") return Array.isArray(right) && right.some((each) => this.same(each, left));
    if (operator === "nin") return Array.isArray(right) && !right.some((each) => this.same(each, left));
    if (operator === "=~")
      return right instanceof Pattern && typeof left === "string" && this.matches(right, left);
    return isOrdered(operator, left, right);
  }

  matches(pattern: Pattern, text: string): boolean {
    // A step of the expression is a fraction of a look.
    this.spend(pattern.stepsFor(text) / 16);
    return pattern.test(text);
  }

  /** Whether both are equal; objects are when they are written alike. */
  same(left: unknown, right: unknown): boolean {
    this.spend(1);
    if (left === right) return true;
    if (typeof left !== "object" || typeof right !== "object" || left === null || right === null)
      return false;
    const [a, b] = [Object.entries(left), Object.entries(right)];
    if (Array.isArray(left) !== Array.isArray(right) || a.length !== b.length) return false;
    return a.every(([key, value], i) => key === b[i]![0] && this.same(value, b[i]![1]));
  }
}

const cut = (text: string): string => (text.length > 200 ? `${text.slice(0, 200)}…` : text);

const childrenOf = (value: Json): readonly Json[] =>
  Array.isArray(value) ? (value as readonly Json[]) : isObject(value) ? Object.values(value) : [];

const optional = (value: Json | undefined): readonly Json[] => (value === undefined ? [] : [value]);
const candidates = (value: Json): readonly Json[] => (Array.isArray(value) ? value : [value]);

function pick(names: readonly string[], value: Json): readonly Json[] {
  if (!isObject(value)) return [];
  const present = names.filter((name) => Object.hasOwn(value, name));
  return present.length === 0 ? [] : [Object.fromEntries(present.map((name) => [name, value[name]!]))];
}

function isOrdered(operator: string, left: unknown, right: unknown): boolean {
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
