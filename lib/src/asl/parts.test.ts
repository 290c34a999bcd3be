/* oxlint-disable no-restricted-imports, no-restricted-globals -- the platform is the reference here, not a part */
// The small parts by themselves: where a table or a formula is easier to check than a whole execution.
import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { matchesWildcards } from "./choice.ts";
import type { Json } from "./contract.ts";
import { type HashAlgorithm, hashHex } from "./hash.ts";
import { callIntrinsic } from "./intrinsics.ts";
import { utf8Bytes } from "./limits.ts";
import { batches, exceedsTolerance } from "./map-run.ts";
import { findPath, readPath } from "./path/evaluate.ts";
import { parseSegments } from "./path/parse.ts";
import { randomFrom } from "./random.ts";
import { parseCsv } from "./reader.ts";
import { retryDelayMs } from "./retry.ts";
import { formatTimestamp, parseTimestamp } from "../core/timestamp.ts";

const algorithms: readonly HashAlgorithm[] = ["MD5", "SHA-1", "SHA-256", "SHA-384", "SHA-512"];

it.each(algorithms)("%s agrees with node:crypto", (algorithm) => {
  const text = fc.string({ unit: "grapheme", maxLength: 300 });
  const check = (each: string) =>
    createHash(algorithm.replace("SHA-", "sha")).update(each, "utf8").digest("hex") ===
    hashHex(each, algorithm);
  fc.assert(fc.property(text, check), { numRuns: 40 });
});

it("counts UTF-8 bytes as Buffer does", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => utf8Bytes(text) === Buffer.byteLength(text)),
  );
});

it("reads and writes instants as Date does", () => {
  const instant = fc.date({ min: new Date("1900-01-01"), max: new Date("2200-01-01"), noInvalidDate: true });
  fc.assert(
    fc.property(instant, (date) => {
      expect(formatTimestamp(date.getTime())).toBe(date.toISOString());
      expect(parseTimestamp(date.toISOString())).toBe(date.getTime());
    }),
  );
});

it.each(["2016-13-05T21:29:29Z", "2016-02-30T00:00:00Z", "2016-12-05 21:29:29Z", "2016-12-05T21:29:29", ""])(
  "%j is no instant",
  (text) => {
    expect(parseTimestamp(text)).toBeUndefined();
  },
);

describe("intrinsic functions", () => {
  const call = (name: string, ...args: readonly Json[]) => callIntrinsic(name, args, randomFrom("s"));
  it("round what is no integer", () => {
    expect(call("States.ArrayPartition", [1, 2, 3, 4], 2.5)).toEqual([[1, 2, 3], [4]]);
    expect(call("States.ArrayRange", 0.6, 3.4, 1)).toEqual([1, 2, 3]);
    expect(call("States.MathAdd", 1.4, 2.6)).toBe(4);
  });

  it.each<[string, ...Json[]]>([
    ["States.Hash", "x", "SHA-1"],
    ["States.Base64Encode", "x"],
    ["States.Base64Decode", "x"],
  ])("%s takes 10,000 characters and no more", (name, character, ...more) => {
    const text = (length: number) => String(character).repeat(length);
    expect(call(name, text(10_000), ...more)).toEqual(expect.any(String));
    expect(() => call(name, text(10_001), ...more)).toThrow("at most 10000 characters");
  });
});

describe("paths", () => {
  const store = {
    book: [
      { t: "a", p: 8 },
      { t: "b", p: 12 },
      { t: "c", p: 22, isbn: 1 },
    ],
    "odd key": { x: 1 },
  };
  it.each([
    ["$.book[0].t", "a"],
    ["$.book[-1].t", "c"],
    ["$['odd key']['x']", 1],
    ["$.book[*].p", [8, 12, 22]],
    ["$..p", [8, 12, 22]],
    ["$.book[1:].t", ["b", "c"]],
    ["$.book[0,2].t", ["a", "c"]],
    ["$.book[?(@.p < 10)].t", ["a"]],
    ["$.book[?(@.isbn && @.p > 10)].t", ["c"]],
    ["$.book[?(@.t == 'b' || @.p == 8)].p", [8, 12]],
    ["$.book[?(@.t =~ /[ab]/)].p", [8, 12]],
    ["$.book[?(@.p in [8, 22])].t", ["a", "c"]],
    ["$.book.length()", 3],
    ["$.book[*].p.sum()", 42],
    ["$.nowhere[*].p", []],
  ])("%s", (text, expected) => {
    expect(readPath(parseSegments(text, 1), store)).toEqual(expected);
  });

  it("finds nothing in what an object inherits", () => {
    expect(findPath(parseSegments("$.constructor", 1), {})).toBeUndefined();
  });

  it.each(["$.", "$[", "$.a[", "$.a[?(@.b]", "$['a", "$.a b"])("%s does not parse", (text) => {
    expect(() => parseSegments(text, 1)).toThrow();
  });
});

it.each([
  ["log-2026.txt", "log-*.txt", true],
  ["a*b", "a\\*b", true],
  ["axb", "a\\*b", false],
  ["a".repeat(5000), `${"a*".repeat(40)}b`, false],
])("StringMatches %#", (text, pattern, expected) => {
  expect(matchesWildcards(text, pattern)).toBe(expected);
});

it("backs off exponentially, capped, and with jitter anywhere below", () => {
  const retrier = {
    errors: [],
    intervalSeconds: 3,
    maxAttempts: 9,
    backoffRate: 2,
    maxDelaySeconds: 10,
    fullJitter: false,
  };
  expect([0, 1, 2, 3].map((used) => retryDelayMs(retrier, used, 0.5))).toEqual([3000, 6000, 10_000, 10_000]);
  expect(retryDelayMs({ ...retrier, fullJitter: true }, 1, 0.25)).toBe(1500);
});

it("bears as many failures as it was told", () => {
  expect(exceedsTolerance({}, 10, 1)).toBe(true);
  expect(exceedsTolerance({ failureCount: 2 }, 10, 2)).toBe(false);
  expect(exceedsTolerance({ failureCount: 2 }, 10, 3)).toBe(true);
  expect(exceedsTolerance({ failurePercentage: 20 }, 10, 2)).toBe(false);
  expect(exceedsTolerance({ failureCount: 5, failurePercentage: 20 }, 10, 3)).toBe(true);
});

it("batches by number and by bytes", () => {
  expect(batches([1, 2, 3], { maxItems: 2 }, undefined)).toEqual([{ Items: [1, 2] }, { Items: [3] }]);
  expect(batches(["x".repeat(30), "y"], { maxBytes: 40 }, { b: 1 })).toHaveLength(2);
});

it("reads CSV with quotes, line ends and empty fields", () => {
  expect(parseCsv('a,"b ""q"", x"\r\n,\n"multi\nline",z', ",")).toEqual([
    ["a", 'b "q", x'],
    ["", ""],
    ["multi\nline", "z"],
  ]);
});
