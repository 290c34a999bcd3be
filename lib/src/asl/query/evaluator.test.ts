// Which expressions may run in the engine's own thread, what they are given there, and what ends them.
import { describe, expect, it } from "vitest";
import { evaluateHere, isBounded } from "./evaluator.ts";

describe("isBounded", () => {
  it.each([
    "$states.input.a",
    "$sum($states.input.items.price)",
    "$uppercase(name) & '!'",
    "$states.input.items[price > 3].name",
    "$sum($states.input.items.($.price * count))",
  ])("takes %s as bounded by its input", (expression) => expect(isBounded(expression)).toBe(true));

  it.each([
    "$pad('', 1e9)",
    "($p := $pad; $p('', 1e9))",
    "$map([1], $range)",
    "[1..1e7]",
    "($f := function($n) { $f($n) }; $f(1))",
    "$match(a, /(a+)+$/)",
    "$states.input.($states.input.($states.input.(1)))",
    "$states.input.items[id in $states.input.others]",
    "$states.input.items^($states.input.order)",
    "$states.input.items{name: $states.input.items}",
    "$states.input.**.**.name",
  ])("does not trust %s", (expression) => expect(isBounded(expression)).toBe(false));
});

const valueOf = (expression: string) =>
  evaluateHere({ expression, bounded: false, bindings: {}, nowMs: 0, seed: "s" });

describe("what Step Functions adds is as AWS answers", () => {
  it.each<[string, unknown]>([
    ["$range(-1.7, 2, 1)", [-1, 0, 1, 2]],
    ["$range(5, 1, -1.5)", [5, 4, 3, 2, 1]],
    ["$range(3, 3, 1)", 3],
    ["$range(5, 1, 1)", undefined],
    ["$range(1, 5, 0)", undefined],
    ["$range(1, 5)", undefined],
    ["$count($range(1, 360145, 1))", 360_145],
    ["$partition([1,2,3,4,5], 2.9)", [[1, 2], [3, 4], [5]]],
    ["$partition([1,2,3])", [[1, 2, 3]]],
    ["$partition([1,2,3], 0)", undefined],
    ["$partition([], 2)", undefined],
    ["$hash('a')", undefined],
    ["$parse()", undefined],
    ["$map(['{\"a\":1}', '{\"a\":2}'], $parse).a", [1, 2]],
    ["$random(0.9) = $random(0)", true],
    ["$millis()", 0],
    ["$now('[Y]')", "1970"],
  ])("%s", async (expression, value) => {
    const found = await valueOf(expression);
    expect(found === undefined ? undefined : JSON.parse(JSON.stringify(found))).toEqual(value);
  });

  const signature = (position: number, name: string) =>
    `T0410: Argument ${position} of function "${name}" does not match function signature`;
  it.each<[string, string]>([
    ["$partition([1,2,3], -1)", "D3137: Second argument must be zero or greater"],
    ["$parse('{}{}')", "D3137: Invalid JSON"],
    ['$parse(\'{"a":1,"b":{"a":2},"a":3}\')', "D3137: Invalid JSON"],
    ["$parse(null)", signature(1, "parse")],
    ["$hash(42, 'MD5')", signature(1, "hash")],
    ["$uuid('seed')", signature(1, "uuid")],
    ["$range(1, 5, 1, 'x')", signature(4, "range")],
    ["$eval('1')", "T1006: Attempted to invoke a non-function"],
  ])("%s fails", async (expression, error) => {
    const thrown = await valueOf(expression).then(
      () => ({}),
      (reason: { code: string; message: string }) => `${reason.code}: ${reason.message}`,
    );
    expect(thrown).toBe(error);
  });
});

it("takes no wide list for a deep one, and no call for a step", async () => {
  const wide = `[${"1,".repeat(999)}1]`;
  expect(await valueOf(`$count(${wide})`)).toBe(1000);
  expect(await valueOf("($f := function($x){ $x <= 0 ? 0 : 1 + $f($x-1) }; $f(200))")).toBe(200);
});

describe("an expression is ended where AWS ends it", () => {
  const tooDeep = "Stack overflow error";
  const tooMuch = "Expression evaluation memory limit exceeded";
  it.each([
    ["1" + "+1".repeat(99), "1" + "+1".repeat(100), tooDeep],
    ["(".repeat(99) + "1" + ")".repeat(99), "(".repeat(100) + "1" + ")".repeat(100), tooDeep],
    ["$count([1..873782])", "$count([1..873783])", tooMuch],
    ["$range(1, 360145, 1)", "$range(1, 360146, 1)", tooMuch],
  ])("%.30s", async (last, first, message) => {
    await expect(valueOf(last)).resolves.toBeDefined();
    await expect(valueOf(first)).rejects.toThrow(message);
  });
});
