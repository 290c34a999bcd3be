import { expect, test } from "vitest";
import { isConnectionLost, isTransient, toCoded } from "./faults.ts";

test.each([
  [
    "a refused connection",
    Object.assign(new Error("connect"), { code: "ECONNREFUSED" }),
    "TUNTAS_DATABASE_UNREACHABLE",
  ],
  [
    "a pool that waited in vain",
    new Error("timeout exceeded when trying to connect"),
    "TUNTAS_DATABASE_UNREACHABLE",
  ],
  [
    "a server that shuts down",
    Object.assign(new Error("terminating"), { code: "57P01" }),
    "TUNTAS_DATABASE_UNREACHABLE",
  ],
  ["a deadlock", Object.assign(new Error("deadlock"), { code: "40P01" }), "TUNTAS_DATABASE_BUSY"],
  ["too many connections", Object.assign(new Error("sorry"), { code: "53300" }), "TUNTAS_DATABASE_FULL"],
])("%s is transient, as the driver tells it and as we code it", (_, cause, code) => {
  const coded = toCoded(cause);
  expect(coded).toMatchObject({ code, retryable: true });
  expect([isTransient(cause), isTransient(coded)]).toEqual([true, true]);
  expect(isConnectionLost(coded)).toBe(isConnectionLost(cause));
  expect(toCoded(coded)).toBe(coded);
});

test("a unique violation and an error of anybody else's are not", () => {
  for (const cause of [Object.assign(new Error("twice"), { code: "23505" }), new Error("no")]) {
    expect(isTransient(cause)).toBe(false);
    expect(toCoded(cause)).toBe(cause);
  }
});
