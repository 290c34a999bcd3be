// The intrinsic functions of JSONPath states: one table of name -> {arity, types, fn}, and the reader of calls.
import type { Json, JsonObject } from "./contract.ts";
import { decodeBase64, encodeBase64 } from "./base64.ts";
import { intrinsicFailure } from "./failure.ts";
import { hashHex, isHashAlgorithm } from "./hash.ts";
import { readJson } from "./limits.ts";
import { isObject } from "./path/evaluate.ts";
import { javaRandom, type Random } from "./random.ts";

type ArgumentType = "any" | "string" | "number" | "array" | "object" | "boolean";

interface Intrinsic {
  /** The fewest and the most arguments. */
  readonly arity: readonly [number, number];
  /** Types by position; the last one holds for all that follow. */
  readonly types: readonly ArgumentType[];
  readonly fn: (args: readonly Json[], random: Random) => Json;
}

const many = Number.POSITIVE_INFINITY;

export const intrinsics: Readonly<Record<string, Intrinsic>> = {
  "States.Format": {
    arity: [1, many],
    types: ["string", "any"],
    fn: ([template, ...values]) => format(template as string, values),
  },
  "States.StringToJson": { arity: [1, 1], types: ["string"], fn: ([text]) => stringToJson(text as string) },
  "States.JsonToString": { arity: [1, 1], types: ["any"], fn: ([value]) => JSON.stringify(value) },
  "States.Array": { arity: [0, many], types: ["any"], fn: (values) => values },
  "States.ArrayPartition": {
    arity: [2, 2],
    types: ["array", "number"],
    fn: ([items, size]) => partition(items as readonly Json[], size as number),
  },
  "States.ArrayContains": {
    arity: [2, 2],
    types: ["array", "any"],
    fn: ([items, value]) => (items as readonly Json[]).some((item) => equal(item, value!)),
  },
  "States.ArrayRange": {
    arity: [3, 3],
    types: ["number"],
    fn: ([from, to, step]) => range(from as number, to as number, step as number),
  },
  "States.ArrayGetItem": {
    arity: [2, 2],
    types: ["array", "number"],
    fn: ([items, index]) => item(items as readonly Json[], index as number),
  },
  "States.ArrayLength": {
    arity: [1, 1],
    types: ["array"],
    fn: ([items]) => (items as readonly Json[]).length,
  },
  "States.ArrayUnique": {
    arity: [1, 1],
    types: ["array"],
    fn: ([items]) => unique(items as readonly Json[]),
  },
  "States.Base64Encode": {
    arity: [1, 1],
    types: ["string"],
    fn: ([text]) => base64(text as string, encodeBase64),
  },
  "States.Base64Decode": {
    arity: [1, 1],
    types: ["string"],
    fn: ([text]) => base64(text as string, decodeBase64),
  },
  "States.Hash": {
    arity: [2, 2],
    types: ["any", "string"],
    fn: ([data, algorithm]) => hash(data!, algorithm as string),
  },
  "States.JsonMerge": {
    arity: [3, 3],
    types: ["object", "object", "boolean"],
    fn: ([left, right, deep]) => merge(left as JsonObject, right as JsonObject, deep as boolean),
  },
  "States.MathRandom": {
    arity: [2, 3],
    types: ["number"],
    fn: ([from, to, seed], random) =>
      mathRandom(from as number, to as number, seed as number | undefined, random),
  },
  "States.MathAdd": {
    arity: [2, 2],
    types: ["number"],
    fn: ([left, right]) => mathAdd(left as number, right as number),
  },
  "States.StringSplit": {
    arity: [2, 2],
    types: ["string"],
    fn: ([text, separators]) => split(text as string, separators as string),
  },
  "States.UUID": { arity: [0, 0], types: [], fn: (_args, random) => random.uuid() },
};

/** Checks the arguments and calls the function; a wrong argument fails the state with States.IntrinsicFailure. */
export function callIntrinsic(name: string, args: readonly Json[], random: Random): Json {
  const { types, fn } = intrinsics[name]!;
  args.forEach((arg, i) => {
    const type = types[Math.min(i, types.length - 1)] ?? "any";
    if (!hasType(arg, type)) {
      throw intrinsicFailure(
        `Invalid arguments in ${name}: expected ${type} at position ${i + 1}, but was ${JSON.stringify(arg)}`,
      );
    }
  });
  return fn(args, random);
}

function hasType(value: Json, type: ArgumentType): boolean {
  if (type === "any") return true;
  if (type === "array") return Array.isArray(value);
  return type === "object" ? isObject(value) : typeof value === type;
}

/** `{}` takes the next value; a backslash keeps the next character as it is. */
function format(template: string, values: readonly Json[]): string {
  let used = 0;
  const text = template.replace(/\\([\s\S])|\{\}/g, (_whole, escaped: string | undefined) => {
    if (escaped !== undefined) return escaped;
    if (used >= values.length)
      throw intrinsicFailure("Invalid arguments in States.Format: there are more placeholders than values");
    return javaText(values[used++]!, true);
  });
  if (used < values.length)
    throw intrinsicFailure("Invalid arguments in States.Format: there are more values than placeholders");
  return text;
}

/** How Java prints a value: {a=1, b=[2]}. That is what the service puts into a formatted string. */
function javaText(value: Json, top = false): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return `[${value.map((each) => javaText(each as Json)).join(", ")}]`;
  if (isObject(value))
    return `{${Object.entries(value)
      .map(([key, each]) => `${key}=${javaText(each)}`)
      .join(", ")}}`;
  return top && value === null ? "null" : JSON.stringify(value);
}

function stringToJson(text: string): Json {
  if (text.trim() === "") return null;
  try {
    return readJson(text);
  } catch {
    throw intrinsicFailure(
      `Invalid arguments in States.StringToJson: expected JSON, but was ${JSON.stringify(text)}`,
    );
  }
}

function partition(items: readonly Json[], size: number): Json {
  const step = Math.round(size);
  if (step < 1)
    throw intrinsicFailure(
      "Invalid arguments in States.ArrayPartition: the chunk size must be a positive integer",
    );
  const chunks: Json[] = [];
  for (let i = 0; i < items.length; i += step) chunks.push(items.slice(i, i + step));
  return chunks;
}

const rangeMax = 1000;

function range(from: number, to: number, step: number): Json {
  const [first, last, by] = [Math.round(from), Math.round(to), Math.round(step)];
  if (by === 0) throw intrinsicFailure("Invalid arguments in States.ArrayRange: the step must not be zero");
  const count = Math.max(0, Math.floor((last - first) / by) + 1);
  if (count > rangeMax)
    throw intrinsicFailure(
      `Invalid arguments in States.ArrayRange: a range has at most ${rangeMax} elements`,
    );
  return Array.from({ length: count }, (_each, i) => first + i * by);
}

function item(items: readonly Json[], index: number): Json {
  const found = index < 0 ? undefined : items[Math.trunc(index)];
  if (found === undefined)
    throw intrinsicFailure(
      `Invalid arguments in States.ArrayGetItem: index ${index} is outside of the array`,
    );
  return found;
}

function unique(items: readonly Json[]): Json {
  const seen = new Set<string>();
  return items.filter((each) => {
    const key = canonical(each);
    return !seen.has(key) && seen.add(key);
  });
}

const equal = (left: Json, right: Json): boolean => left === right || canonical(left) === canonical(right);

/** JSON text that is the same for equal values whatever the order of their keys. */
function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map((each) => canonical(each as Json)).join()}]`;
  if (!isObject(value)) return JSON.stringify(value);
  return `{${Object.keys(value)
    .toSorted()
    .map((key) => `${JSON.stringify(key)}:${canonical(value[key]!)}`)
    .join()}}`;
}

const stringMax = 10_000;

function checkLength(text: string): void {
  if (text.length > stringMax)
    throw intrinsicFailure(
      `Invalid arguments: expected at most ${stringMax} characters, but was ${text.length}`,
    );
}

function base64(text: string, convert: (text: string) => string | undefined): string {
  checkLength(text);
  const converted = convert(text);
  if (converted === undefined)
    throw intrinsicFailure("Invalid arguments in States.Base64Decode: expected Base64 text");
  return converted;
}

function hash(data: Json, algorithm: string): string {
  if (!isHashAlgorithm(algorithm))
    throw intrinsicFailure(`Invalid arguments in States.Hash: unknown algorithm '${algorithm}'`);
  const text = typeof data === "string" ? data : JSON.stringify(data);
  checkLength(text);
  return hashHex(text, algorithm);
}

function merge(left: JsonObject, right: JsonObject, deep: boolean): Json {
  if (deep) throw intrinsicFailure("Invalid arguments in States.JsonMerge: deep merge is not supported");
  return { ...left, ...right };
}

function mathRandom(from: number, to: number, seed: number | undefined, random: Random): number {
  const [low, high] = [Math.round(from), Math.round(to)];
  if (low >= high)
    throw intrinsicFailure(
      "Invalid arguments in States.MathRandom: the first number must be smaller than the second",
    );
  const draw = seed === undefined ? random.next() : javaRandom(seed);
  return low + Math.floor(draw * (high - low));
}

/** Both are rounded first; + 0 turns a negative zero into zero. */
const mathAdd = (left: number, right: number): number => Math.round(left) + Math.round(right) + 0;

/** Each character of the second is a separator, and nothing empty comes out. */
function split(text: string, separators: string): Json {
  const isSeparator = new Set(separators);
  const parts: string[] = [];
  let part = "";
  for (const character of text) {
    if (!isSeparator.has(character)) part += character;
    else if (part !== "") {
      parts.push(part);
      part = "";
    }
  }
  return part === "" ? parts : [...parts, part];
}

export type Argument =
  | { readonly kind: "literal"; readonly value: Json }
  | { readonly kind: "path"; readonly text: string }
  | { readonly kind: "call"; readonly call: Call };

export interface Call {
  readonly name: string;
  readonly args: readonly Argument[];
}

export class CallSyntaxError extends Error {}

/** Reads `States.Name(arg, …)`; `end` is where the call stops within the text. */
export function parseCall(text: string): Call {
  const reader = { text, at: 0, depth: 0 };
  const call = readCall(reader);
  if (reader.at !== text.trimEnd().length) throw new CallSyntaxError(text);
  return call;
}

interface Reader {
  readonly text: string;
  at: number;
  depth: number;
}

/** Step Functions takes ten calls within calls. */
const nestingMax = 50;

function readCall(reader: Reader): Call {
  if (++reader.depth > nestingMax) throw new CallSyntaxError(reader.text);
  const name = /^States\.\w+/.exec(reader.text.slice(reader.at))?.[0];
  if (!name || !Object.hasOwn(intrinsics, name)) throw new CallSyntaxError(reader.text);
  reader.at += name.length;
  const args = readArguments(reader, name);
  const [fewest, most] = intrinsics[name]!.arity;
  if (args.length < fewest || args.length > most) throw new CallSyntaxError(reader.text);
  reader.depth--;
  return { name, args };
}

function readArguments(reader: Reader, name: string): Argument[] {
  const args: Argument[] = [];
  if (reader.text[reader.at++] !== "(") throw new CallSyntaxError(reader.text);
  blanks(reader);
  while (reader.text[reader.at] !== ")") {
    args.push(readArgument(reader, name === "States.Format" && args.length === 0));
    blanks(reader);
    if (reader.text[reader.at] === ",") reader.at++;
    else if (reader.text[reader.at] !== ")") throw new CallSyntaxError(reader.text);
    blanks(reader);
  }
  reader.at++;
  return args;
}

function blanks(reader: Reader): void {
  while (reader.text[reader.at] === " ") reader.at++;
}

function readArgument(reader: Reader, isTemplate: boolean): Argument {
  const first = reader.text[reader.at];
  if (first === "'") return { kind: "literal", value: readQuoted(reader, isTemplate) };
  if (first === "$") return { kind: "path", text: readPathText(reader) };
  if (first === "S") return { kind: "call", call: readCall(reader) };
  return readLiteral(reader);
}

/** A template keeps its escapes: only States.Format can tell an escaped brace from a placeholder. */
function readQuoted(reader: Reader, keepEscapes: boolean): string {
  const match = /^'((?:[^'\\]|\\['{}\\])*)'/.exec(reader.text.slice(reader.at));
  if (!match) throw new CallSyntaxError(reader.text);
  reader.at += match[0].length;
  return keepEscapes ? match[1]! : match[1]!.replace(/\\(.)/g, "$1");
}

function readPathText(reader: Reader): string {
  const start = reader.at;
  for (let depth = 0; reader.at < reader.text.length; reader.at++) {
    const character = reader.text[reader.at]!;
    if (character === "'" && depth > 0) reader.at = closingQuote(reader.text, reader.at);
    else if (character === "[" || character === "(") depth++;
    else if ((character === "," || character === ")" || character === " ") && depth === 0) break;
    else if (character === "]" || character === ")") depth--;
  }
  return reader.text.slice(start, reader.at);
}

function closingQuote(text: string, open: number): number {
  let at = open + 1;
  while (at < text.length && text[at] !== "'") at += text[at] === "\\" ? 2 : 1;
  return at;
}

function readLiteral(reader: Reader): Argument {
  const match = /^(true|false|null|-?\d+(\.\d+)?([eE][+-]?\d+)?)(?=[\s,)])/.exec(
    reader.text.slice(reader.at),
  );
  if (!match) throw new CallSyntaxError(reader.text);
  reader.at += match[0].length;
  return { kind: "literal", value: JSON.parse(match[0]) as Json };
}
