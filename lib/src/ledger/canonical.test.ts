import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalText, requestHash, stepKey } from "./canonical.ts";

test("idem-03 the same JSON in any key order has one hash, another JSON another", () => {
  expect(requestHash(JSON.parse('{"a":1,"b":{"x":1,"y":2}}'))).toBe(
    requestHash(JSON.parse('{"b":{"y":2,"x":1},"a":1}')),
  );
  const different = [
    '{"id":"A","meta":{"x":1}}',
    '{"id":"A","meta":{"x":2}}',
    '{"v":1}',
    '{"v":"1"}',
    '{"v":[1,2]}',
    '{"v":[2,1]}',
    '{"v":null}',
    "{}",
  ];
  expect(new Set(different.map((text) => requestHash(JSON.parse(text)))).size).toBe(different.length);
});

test("payload-04 __proto__ is a key like any other", () => {
  const strange = JSON.parse('{"__proto__":{"admin":true},"a":1}');
  expect(canonicalText(strange)).toBe('{"__proto__":{"admin":true},"a":1}');
  expect(requestHash(strange)).not.toBe(requestHash({ a: 1 }));
});

test("numbers, unicode and what JSON leaves out", () => {
  expect(
    canonicalText({
      n: [-0, 1e21, 0.1, 1.0],
      s: "\u00e9 e\u0301 \ud83d\ude00 \ud800",
      u: undefined,
      d: new Date(0),
    }),
  ).toBe('{"d":"1970-01-01T00:00:00.000Z","n":[0,1e+21,0.1,1],"s":"\u00e9 e\u0301 \ud83d\ude00 \\ud800"}');
  const cycle: unknown[] = [];
  cycle.push(cycle);
  expect(() => canonicalText(cycle)).toThrow(/contains itself/);
  const shared = { x: 1 };
  expect(canonicalText([shared, shared])).toBe('[{"x":1},{"x":1}]');
});

test("property: canonical text is JSON of the same value, and key order never matters", () => {
  const shuffled = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(shuffled);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(
      Object.entries(value)
        .toReversed()
        .map(([key, inner]) => [key, shuffled(inner)]),
    );
  };
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      expect(JSON.parse(canonicalText(JSON.parse(text)))).toEqual(JSON.parse(text));
      expect(requestHash(shuffled(JSON.parse(text)))).toBe(requestHash(JSON.parse(text)));
    }),
  );
});

test("P-18 the key of a step is the same at every retry, and its parts cannot run into each other", () => {
  expect(stepKey("exec-1", "ReserveNumber")).toBe(stepKey("exec-1", "ReserveNumber"));
  expect(stepKey("a/b", "c")).not.toBe(stepKey("a", "b/c"));
  expect(() => stepKey("a", "")).toThrow(/1 to 512/);
});
