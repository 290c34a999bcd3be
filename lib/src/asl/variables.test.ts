// How much variables may hold: each assignment, and all of an execution together.
import { describe, expect, it } from "vitest";
import type { JsonObject } from "./contract.ts";
import { limits } from "./limits.ts";
import { simulate } from "./simulate.ts";

/** States one after another, each of which assigns what it says. */
function assigning(...assigned: readonly JsonObject[]): JsonObject {
  const states = assigned.map((Assign, i) => [
    `S${i}`,
    { Type: "Pass", Assign, ...(i + 1 < assigned.length ? { Next: `S${i + 1}` } : { End: true }) },
  ]);
  return { StartAt: "S0", States: Object.fromEntries(states) as JsonObject };
}

const text = "x".repeat(200_000);
const count = Math.ceil(limits.variablesBytes / text.length);
const names = Array.from({ length: count }, (_each, i) => `v${i}`);
const exceeded = (cause: string) => ({
  status: "FAILED",
  error: "States.DataLimitExceeded",
  cause: expect.stringContaining(cause) as string,
});

describe("the limits of variables", () => {
  it("holds what one state assigns to 256 KiB, all of its variables together", async () => {
    expect(await simulate(assigning({ "a.$": "$" }), text)).toMatchObject({ status: "SUCCEEDED" });
    expect(await simulate(assigning({ "a.$": "$", "b.$": "$" }), text)).toMatchObject(
      exceeded("'S0' assigns"),
    );
  });

  it("holds all variables of an execution to 10 MiB", async () => {
    const many = names.map((name) => ({ [`${name}.$`]: "$" }));
    const { history, ...end } = await simulate(assigning(...many), text);
    expect(end).toMatchObject(exceeded("of the execution"));
    expect(history.filter(({ type }) => type === "PassStateExited")).toHaveLength(count - 1);
  });

  it("counts what is there, not what was ever assigned", async () => {
    const again = names.map(() => ({ "same.$": "$" }));
    expect(await simulate(assigning(...again), text)).toMatchObject({ status: "SUCCEEDED" });
  });

  it("fails as no other error: States.ALL does not stand for it, its name does", async () => {
    const task = (ErrorEquals: readonly string[]): JsonObject => ({
      StartAt: "T",
      States: {
        T: {
          Type: "Parallel",
          Branches: [assigning({ a: "a" })],
          Assign: { "a.$": "$[0]", "b.$": "$[0]" },
          Catch: [{ ErrorEquals, Next: "Caught" }],
          End: true,
        },
        Caught: { Type: "Pass", Result: "caught", End: true },
      },
    });
    expect(await simulate(task(["States.ALL"]), text)).toMatchObject(exceeded("'T' assigns"));
    expect(await simulate(task(["States.DataLimitExceeded"]), text)).toMatchObject({ output: "caught" });
  });
});
