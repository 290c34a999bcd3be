// Which expressions may run in the engine's own thread.
import { describe, expect, it } from "vitest";
import { isBounded } from "./evaluator.ts";

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
