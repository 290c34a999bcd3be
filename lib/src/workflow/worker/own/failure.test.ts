// What a step's end means to the language, by the kind of the error.
import { expect, test } from "vitest";
import { conflict, poison, rejected, retry, unknown } from "../../../core/outcome.ts";
import { failureOf } from "./failure.ts";

class Unreachable extends Error {}

const deadlock = Object.assign(new Error("deadlock detected"), { code: "40P01" });

test.each([
  ["transient: a name that a Retry takes", deadlock, { error: "TransientDatabaseError" }],
  ["asked to try again: likewise", retry({ code: "BUSY" }), { error: "BUSY" }],
  ["conflict: by its name, for a Catch that reloads", conflict({ code: "MOVED" }), { error: "MOVED" }],
  ["downstream down: by its class, for Retry and then Catch", new Unreachable("x"), { error: "Unreachable" }],
  ["business invalid: never again", rejected({ code: "NO" }), { error: "NO", final: true }],
  ["poison: never again, somebody has to look", poison({ code: "BAD" }), { error: "BAD", final: true }],
  ["unknown effect: not before it is reconciled", unknown({ code: "WHO" }), { error: "WHO", final: true }],
])("P-35 %s", (_class, thrown, expected) => {
  const { cause, ...failure } = failureOf(thrown);
  expect(failure).toEqual(expected);
  if (thrown instanceof Error)
    expect(JSON.parse(cause!)).toMatchObject({ errorType: expected.error, errorMessage: thrown.message });
});
