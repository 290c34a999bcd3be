// Reads a JSONPath as Step Functions (Jayway's JsonPath) understands it: fields, indexes, slices, unions, wildcards,
// deep scan, filters and the functions at a path's end. A path is parsed once, when its definition is compiled.
import { type Pattern, readPattern } from "./pattern.ts";

export type PathSegment =
  | { readonly kind: "field"; readonly name: string }
  | { readonly kind: "index"; readonly index: number }
  | { readonly kind: "fields"; readonly names: readonly string[] }
  | { readonly kind: "indexes"; readonly indexes: readonly number[] }
  | { readonly kind: "slice"; readonly from: number | undefined; readonly to: number | undefined }
  | { readonly kind: "wildcard" }
  | { readonly kind: "scan"; readonly inner: PathSegment }
  | { readonly kind: "filter"; readonly test: FilterNode }
  | { readonly kind: "function"; readonly name: string };

export type FilterNode =
  | { readonly kind: "or"; readonly left: FilterNode; readonly right: FilterNode }
  | { readonly kind: "and"; readonly left: FilterNode; readonly right: FilterNode }
  | { readonly kind: "not"; readonly inner: FilterNode }
  | { readonly kind: "exists"; readonly operand: FilterOperand }
  | {
      readonly kind: "compare";
      readonly operator: string;
      readonly left: FilterOperand;
      readonly right: FilterOperand;
    };

export type FilterOperand =
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "path"; readonly root: "@" | "$"; readonly segments: readonly PathSegment[] };

export interface Path {
  readonly text: string;
  readonly segments: readonly PathSegment[];
  /** A definite path names at most one value; any other gives an array of what it finds. */
  readonly definite: boolean;
}

export class PathSyntaxError extends Error {}

const functionNames = new Set([
  "length",
  "min",
  "max",
  "avg",
  "stddev",
  "sum",
  "keys",
  "concat",
  "append",
  "first",
  "last",
  "index",
]);

/** Parses what follows the `$` (or `$name`, `$$`) of a path. `text` is the whole, for messages. */
export function parseSegments(text: string, start: number): Path {
  const reader = new PathReader(text, start);
  const segments = reader.segments();
  if (reader.at < text.length) reader.fail();
  return { text, segments, definite: segments.every(isDefinite) };
}

function isDefinite(segment: PathSegment): boolean {
  if (segment.kind === "indexes") return segment.indexes.length === 1;
  return segment.kind === "field" || segment.kind === "index" || segment.kind === "function";
}

/** Filters within filters; a person needs two. */
const nestingMax = 50;

const nameEnd = /[.[\]()\s,'"=<>!&|]/;

class PathReader {
  readonly text: string;
  at: number;
  private depth = 0;

  constructor(text: string, at: number) {
    this.text = text;
    this.at = at;
  }

  fail(): never {
    throw new PathSyntaxError(`Invalid path '${this.text}' at position ${this.at}`);
  }

  take(token: string): boolean {
    if (!this.text.startsWith(token, this.at)) return false;
    this.at += token.length;
    return true;
  }

  expect(token: string): void {
    if (!this.take(token)) this.fail();
  }

  blanks(): void {
    while (this.text[this.at] === " ") this.at++;
  }

  segments(): PathSegment[] {
    const found: PathSegment[] = [];
    for (;;) {
      const segment = this.segment();
      if (!segment) return found;
      found.push(segment);
    }
  }

  segment(): PathSegment | undefined {
    if (this.take("..")) {
      if (this.text[this.at] === "[") return { kind: "scan", inner: this.bracket() };
      return { kind: "scan", inner: this.dotted() };
    }
    if (this.take(".")) return this.text[this.at] === "[" ? this.bracket() : this.dotted();
    return this.text[this.at] === "[" ? this.bracket() : undefined;
  }

  dotted(): PathSegment {
    if (this.take("*")) return { kind: "wildcard" };
    const name = this.name();
    if (functionNames.has(name) && this.take("()")) return { kind: "function", name };
    return { kind: "field", name };
  }

  name(): string {
    const start = this.at;
    while (this.at < this.text.length && !nameEnd.test(this.text[this.at]!)) this.at++;
    if (this.at === start) this.fail();
    return this.text.slice(start, this.at);
  }

  bracket(): PathSegment {
    this.expect("[");
    this.blanks();
    const segment = this.bracketed();
    this.blanks();
    this.expect("]");
    return segment;
  }

  bracketed(): PathSegment {
    if (this.take("*")) return { kind: "wildcard" };
    if (this.take("?(")) {
      const test = this.filter();
      this.expect(")");
      return { kind: "filter", test };
    }
    const quote = this.text[this.at];
    if (quote === "'" || quote === '"') return this.quotedNames();
    return this.positions();
  }

  quotedNames(): PathSegment {
    const names = [this.quoted()];
    for (this.blanks(); this.take(","); this.blanks()) {
      this.blanks();
      names.push(this.quoted());
    }
    return names.length === 1 ? { kind: "field", name: names[0]! } : { kind: "fields", names };
  }

  quoted(): string {
    const quote = this.text[this.at++];
    if (quote !== "'" && quote !== '"') this.fail();
    let text = "";
    while (this.text[this.at] !== quote) {
      if (
        this.text[this.at] === "\\" &&
        (this.text[this.at + 1] === quote || this.text[this.at + 1] === "\\")
      )
        this.at++;
      if (this.at >= this.text.length) this.fail();
      text += this.text[this.at++];
    }
    this.at++;
    return text;
  }

  positions(): PathSegment {
    const from = this.integer();
    if (this.take(":")) return { kind: "slice", from, to: this.integer() };
    if (from === undefined) this.fail();
    const indexes = [from];
    for (this.blanks(); this.take(","); this.blanks()) {
      this.blanks();
      const next = this.integer();
      if (next === undefined) this.fail();
      indexes.push(next);
    }
    return indexes.length === 1 ? { kind: "index", index: from } : { kind: "indexes", indexes };
  }

  integer(): number | undefined {
    const match = /^-?\d+/.exec(this.text.slice(this.at, this.at + 20));
    if (!match) return undefined;
    this.at += match[0].length;
    return Number(match[0]);
  }

  filter(): FilterNode {
    let left = this.conjunction();
    while (this.operator("||")) left = { kind: "or", left, right: this.conjunction() };
    return left;
  }

  conjunction(): FilterNode {
    let left = this.condition();
    while (this.operator("&&")) left = { kind: "and", left, right: this.condition() };
    return left;
  }

  operator(token: string): boolean {
    this.blanks();
    const found = this.take(token);
    this.blanks();
    return found;
  }

  condition(): FilterNode {
    if (++this.depth > nestingMax) this.fail();
    const found = this.nested();
    this.depth--;
    return found;
  }

  nested(): FilterNode {
    if (this.operator("!")) return { kind: "not", inner: this.condition() };
    if (this.operator("(")) {
      const inner = this.filter();
      this.expect(")");
      return inner;
    }
    return this.comparison();
  }

  comparison(): FilterNode {
    const left = this.operand();
    this.blanks();
    const operator = /^(==|!=|<=|>=|<|>|=~|in\b|nin\b)/.exec(this.text.slice(this.at, this.at + 4))?.[0];
    if (!operator) return { kind: "exists", operand: left };
    this.at += operator.length;
    this.blanks();
    return { kind: "compare", operator, left, right: this.operand() };
  }

  operand(): FilterOperand {
    const first = this.text[this.at];
    if (first === "@" || first === "$") {
      this.at++;
      return { kind: "path", root: first, segments: this.segments() };
    }
    if (first === "'" || first === '"') return { kind: "value", value: this.quoted() };
    if (first === "/") return { kind: "value", value: this.pattern() };
    return { kind: "value", value: this.literal() };
  }

  pattern(): Pattern {
    const match = /^\/((?:[^/\\]|\\.)*)\/(i?)/.exec(this.text.slice(this.at));
    const pattern = match && readPattern(match[1]!, match[2]!);
    if (!pattern) this.fail();
    this.at += match[0].length;
    return pattern;
  }

  literal(): unknown {
    const match = /^(true|false|null|-?\d+(\.\d+)?([eE][+-]?\d+)?|\[[^\]]*\])/.exec(this.text.slice(this.at));
    if (!match) this.fail();
    this.at += match[0].length;
    return JSON.parse(match[0].replaceAll("'", '"')) as unknown;
  }
}
