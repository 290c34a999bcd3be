// A form from a schema: what it asks for, and that it changes nothing that it does not ask for.
import { expect, test } from "vitest";
import { jsonSchemaOf } from "tuntas";
import { z } from "zod";
import { fieldsOf, parseObject, sampleOf, textOf, valueAt, withValue } from "./model.ts";

const schema = jsonSchemaOf(
  z.object({
    orderId: z.uuid(),
    amount: z.number().min(1).max(500),
    urgent: z.boolean().optional(),
    size: z.enum(["small", "large"]),
    note: z.string().nullable(),
    customer: z.object({ name: z.string(), tags: z.array(z.string()) }),
  }),
)!;

test("each member that one can type is a field, in the order of the schema", () => {
  const fields = fieldsOf(schema).map(({ path, kind, required }) => [path.join("."), kind, required]);
  expect(fields).toEqual([
    ["orderId", "text", true],
    ["amount", "number", true],
    ["urgent", "flag", false],
    ["size", "choice", true],
    ["note", "text", true],
    ["customer.name", "text", true],
    ["customer.tags", "json", true],
  ]);
  expect(fieldsOf(schema).find(({ path }) => path[0] === "amount")!.hint).toBe("1 to 500");
});

test("what is no object has no form, and one that refers to itself ends", () => {
  expect(fieldsOf({ type: "string" })).toEqual([]);
  const node = { type: "object", properties: { next: { $ref: "#/$defs/node" } } };
  expect(fieldsOf({ ...node, $defs: { node } }).every(({ path }) => path.length <= 4)).toBe(true);
});

test("a sample has what must be there", () => {
  expect(JSON.parse(sampleOf(schema))).toEqual({
    orderId: "",
    size: "small",
    note: "",
    customer: { name: "" },
  });
  expect(sampleOf(null)).toBe("{}");
});

test("a field changes its own member, keeps the order and everything that the form does not show", () => {
  const before = parseObject('{"a":1,"b":{"c":2,"extra":true},"z":0}');
  expect(textOf(withValue(before, ["b", "c"], 3))).toBe(textOf({ a: 1, b: { c: 3, extra: true }, z: 0 }));
  expect(withValue(before, ["a"], undefined)).toEqual({ b: { c: 2, extra: true }, z: 0 });
  expect(valueAt(before, ["b", "extra"])).toBe(true);
  expect(valueAt(before, ["toString"])).toBeUndefined();
  expect(valueAt(withValue({}, ["__proto__", "x"], 1), ["x"])).toBeUndefined();
});
