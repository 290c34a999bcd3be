// Paths and calls out of their grammar, and near it: what parses is read to an end or fails by name, and nothing else happens.
import fc from "fast-check";
import { expect, it } from "vitest";
import type { Json } from "../contract.ts";
import { StateFailure } from "../failure.ts";
import { CallSyntaxError } from "../intrinsics.ts";
import { PathMissing } from "../path/evaluate.ts";
import { PathSyntaxError } from "../path/parse.ts";
import { readPattern } from "../path/pattern.ts";
import { randomFrom } from "../random.ts";
import { compileReference } from "./jsonpath.ts";
import type { Scope } from "./query.ts";

const scopeOf = (input: Json): Scope => ({
  input,
  nowMs: 0,
  random: randomFrom("seed"),
  context: () => ({ Execution: { Id: "x" } }),
  variable: (name) => (name === "v" ? [1, 2] : undefined),
  variables: () => ({ v: [1, 2] }),
});

/** Reads the text, if it is one that can be read; any other error is a fault. */
function attempt(text: string, input: Json): Json | undefined {
  try {
    return compileReference(text).read(scopeOf(input));
  } catch (error) {
    const isNamed = [PathSyntaxError, CallSyntaxError, PathMissing, StateFailure].some(
      (kind) => error instanceof kind,
    );
    if (!isNamed) throw error;
    return undefined;
  }
}

const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>;
const many = { numRuns: 3000, interruptAfterTimeLimit: 10_000, markInterruptAsFailure: false };

const step = fc.constantFrom(
  ".a", "['a']", "[0]", "[-1]", "[*]", ".*", "..a", "..*", "[0:2]", "[0,1]", "['a','b']", "[?(@.a)]", "[?(@ == 1)]", "[?(@.a > $.b)]",
  "[?(!@.a && @.b || @ in [1, 2])]", "[?(@ =~ /a.*b?/i)]", ".length()", ".sum()", ".keys()", ".__proto__", "['constructor']", ".first()",
); // prettier-ignore

it("reads whatever path is made of steps", () => {
  const path = fc.array(step, { maxLength: 6 }).map((steps) => `$${steps.join("")}`);
  let found = 0;
  fc.assert(
    fc.property(path, json, (text, input) => void (attempt(text, input) !== undefined && found++)),
    many,
  );
  expect(found).toBeGreaterThan(100);
});

const characters = fc.constantFrom(..."$.[]()*?@!&|=~<>/'\"\\,:0a-^+{} ", "States.", "Array(", "Format(");

it("reads or refuses whatever is near a path", () => {
  const text = fc.array(characters, { maxLength: 30 }).map((parts) => `$${parts.join("")}`);
  fc.assert(
    fc.property(text, json, (path, input) => void attempt(path, input)),
    many,
  );
});

const { call } = fc.letrec<{ call: string; argument: string }>((tie) => ({
  argument: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom("$", "$.a", "$$.Execution", "$v", "1", "-1", "0.5", "1e308", "null", "true", "''", "'{}'", "'a,b'", "'\\\\{\\\\}'", "'SHA-1'"),
    tie("call"),
  ),
  call: fc
    .tuple(
      fc.constantFrom(
        "Format", "StringToJson", "JsonToString", "Array", "ArrayPartition", "ArrayContains", "ArrayRange", "ArrayGetItem", "ArrayLength",
        "ArrayUnique", "Base64Encode", "Base64Decode", "Hash", "JsonMerge", "MathRandom", "MathAdd", "StringSplit", "UUID",
      ),
      fc.array(tie("argument"), { maxLength: 3 }),
    )
    .map(([name, args]) => `States.${name}(${args.join(", ")})`),
})); // prettier-ignore

it("calls whatever is made of calls", () => {
  fc.assert(
    fc.property(call, json, (text, input) => {
      const value = attempt(text, input);
      // What comes out is data: JSON can hold all of it.
      if (value !== undefined) expect(JSON.stringify(value)).toBeDefined();
    }),
    many,
  );
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
});

it.each([
  ["(abc)+", "abcabc", true],
  ["a.*b", "a-b", true],
  ["[a-z]+", "abc", true],
  ["(a|b)c", "bc", true],
  ["a{2,3}", "aaaa", false],
  ["\\d{4}-\\d{2}", "2026-11", true],
  ["", "", true],
])("takes the pattern /%s/", (source, text, expected) => {
  expect(readPattern(source, "")?.test(text)).toBe(expected);
});

it.each([
  "(a+)+",
  "((a+))+",
  "(a|aa)*",
  "(a?){30}",
  "(a*)\\1",
  "(?=a)*b",
  "(?<n>a)\\k<n>",
  "(",
  "a**",
  "(((a*)*)*)",
])("refuses the pattern /%s/, which could take for ever or is none", (source) =>
  expect(readPattern(source, "")).toBeUndefined(),
);

it("says of every pattern that it takes how long it may take", { timeout: 60_000 }, () => {
  const piece = fc.constantFrom(
    "a",
    "b",
    ".",
    "[ab]",
    "a*",
    "a+",
    "b?",
    "(ab)",
    "(a|b)",
    "(ab)*",
    "a{1,3}",
    "|",
    "(a*)",
    "(?:a)",
  );
  const pattern = fc.array(piece, { minLength: 1, maxLength: 10 }).map((pieces) => pieces.join(""));
  const text = fc.nat(3000).map((length) => `${"ab".repeat(length / 2)}c`);
  fc.assert(
    fc.property(pattern, text, (source, tested) => {
      const read = readPattern(source, "");
      if (!read || read.stepsFor(tested) > 2e7) return;
      const begun = performance.now();
      read.test(tested);
      expect(performance.now() - begun).toBeLessThan(5000);
    }),
    { numRuns: 1000 },
  );
});
