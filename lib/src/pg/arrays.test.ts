import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { testPlatform, type TestPlatform } from "../testing/index.ts";
import { pgArray } from "./arrays.ts";
import { statement } from "./database.ts";

let kit: TestPlatform;
beforeAll(async () => {
  kit = await testPlatform();
});
afterAll(() => kit[Symbol.asyncDispose]());

const echo = async (type: string, value: Buffer): Promise<unknown> =>
  (await kit.platform.database.run(statement(`select to_json($1::${type}[]) as value`), [value]))[0]!.value;

const text = fc.string({ unit: "grapheme" }).filter((value) => !value.includes("\0"));

test("arrays arrive as they were, whatever their texts hold", () =>
  fc.assert(
    fc.asyncProperty(fc.array(fc.option(text)), async (values) => {
      expect(await echo("text", pgArray.text(values))).toEqual(values);
    }),
    { numRuns: 50 },
  ));

test("numbers, truth values, JSON and nothing at all", async () => {
  expect(await echo("int", pgArray.int([1, null, -(2 ** 31)]))).toEqual([1, null, -(2 ** 31)]);
  expect(await echo("bigint", pgArray.bigint(["7", null, 2 ** 40, -(2 ** 40) - 1, -1]))).toEqual([
    7,
    null,
    2 ** 40,
    -(2 ** 40) - 1,
    -1,
  ]);
  expect(await echo("boolean", pgArray.bool([true, null, false]))).toEqual([true, null, false]);
  expect(await echo("json", pgArray.json(['{"a":[1]}', null]))).toEqual([{ a: [1] }, null]);
  expect(await echo("text", pgArray.text([]))).toEqual([]);
});
