import { expect, test } from "vitest";
import {
  attributesMd5,
  attributesSize,
  checkAttributes,
  parseAttributes,
  selectAttributes,
} from "./message-attributes.ts";

const text = (StringValue: string) => ({ DataType: "String", StringValue });
const recorded = { "Help.Me": text("Me"), Hello: text("There"), General: text("Kenobi") };

test("the MD5 of attributes is the one that AWS answers (recorded)", () => {
  expect(attributesMd5(recorded)).toBe("4c360f3fdafd970e05fae2f149d997f5");
  expect(attributesMd5({ timestamp: { DataType: "Number", StringValue: "1493147359900" } })).toBe(
    "235c5c510d26fb653d073faed50ae77c",
  );
  const mixed = {
    red: text("fish"),
    blue: text("cat"),
    green: { DataType: "Binary", BinaryValue: "ZG9n" },
    yellow: { DataType: "Number", StringValue: "1234567890" },
    orange: { DataType: "Number.custom", StringValue: "0987654321" },
  };
  expect(attributesMd5(mixed)).toBe("4173f5483dc4fe840a5e0b22312e8404");
  expect(attributesMd5({})).toBeUndefined();
});

test.each([
  [["All"], 3],
  [["*"], 3],
  [[".*"], 3],
  [["Foo", "Hello"], 1],
  [["Hel.*"], 2],
  [["Help"], 0],
  [["..foo"], 0],
  [[], 0],
])("a receive that names %j gets %i attributes", (filters, count) => {
  expect(Object.keys(selectAttributes(recorded, filters))).toHaveLength(count);
});

test("the size counts names, types and values in bytes", () => {
  expect(attributesSize({ k: text("é") })).toBe(1 + 6 + 2);
  expect(attributesSize({ b: { DataType: "Binary", BinaryValue: "ZG9n" } })).toBe(1 + 6 + 3);
});

test.each([
  ["a leading period", { ".a": text("x") }],
  ["a trailing period", { "a.": text("x") }],
  ["two periods", { "a..b": text("x") }],
  ["a reserved prefix in any case", { "aWs.a": text("x") }],
  ["a name of 257 characters", { ["a".repeat(257)]: text("x") }],
  ["an empty value", { a: text("") }],
  ["an empty type", { a: { DataType: "", StringValue: "x" } }],
  ["an unknown type", { a: { DataType: "Strings", StringValue: "x" } }],
  ["a number beyond 10^126", { a: { DataType: "Number", StringValue: "1.1e126" } }],
  ["a number below -10^128", { a: { DataType: "Number.float", StringValue: "-1e129" } }],
  ["a number that is none", { a: { DataType: "Number", StringValue: "1x" } }],
  [
    "a long number that is none, at once",
    { a: { DataType: "Number", StringValue: `${"1".repeat(300_000)}x` } },
  ],
  ["a control character", { a: text("\b") }],
  [
    "eleven attributes",
    Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`a${index}`, text("x")])),
  ],
])("%s is refused", (_, attributes) => {
  expect(() => checkAttributes(attributes)).toThrow(expect.objectContaining({ name: "WireError" }));
});

test("a custom label, a name of underscores and a number in scientific notation pass", () => {
  checkAttributes(JSON.parse('{"__proto__":{"DataType":"String.uuid","StringValue":"x"}}'));
  checkAttributes({ n: { DataType: "Number", StringValue: "-1.5e10" } });
  checkAttributes({ n: { DataType: "Number", StringValue: `1${"0".repeat(126)}` } });
});

test("what SQL sent without a type is text, and what is no attribute is none", () => {
  const stored =
    '{"a":{"StringValue":"x"},"b":5,"c":null,"d":{"DataType":"Binary"},"e":{"DataType":7,"StringValue":"y"}}';
  const attributes = parseAttributes(stored);
  expect(attributes).toEqual({ a: text("x"), e: text("y") });
  expect(attributesMd5(attributes)).toMatch(/^[0-9a-f]{32}$/);
});
