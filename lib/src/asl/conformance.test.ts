// Every recorded scenario that needs nothing but the language, event by event against what AWS did.
import { describe, expect, it } from "vitest";
import { compareCases, compareExecution } from "../../../conformance/asl/compare.mjs";
import type { ExecutionState, JsonObject } from "./contract.ts";
import { play, type Scenario, scenarios } from "./corpus.fixture.ts";

/** The state survives being kept as text between any two events. */
const roundTrip = ({ state }: { readonly state: ExecutionState }): ExecutionState => JSON.parse(JSON.stringify(state)) as ExecutionState;

const areaOf = ({ id }: Scenario): string => id.split("/")[0]!;
const playable = scenarios().filter(({ kind }) => kind !== "api");

async function playExecution(scenario: Scenario): Promise<void> {
  const { status, output, error, cause, history } = await play(scenario, scenario.definition, scenario.input, { observe: roundTrip });
  const actual = scenario.type === "EXPRESS" ? { status, output, error, cause } : { status, output, error, cause, history };
  const { ok, diffs } = compareExecution(scenario, actual, { encoding: "text" });
  expect(ok, JSON.stringify(diffs.slice(0, 3), null, 1)).toBe(true);
}

async function playCases(scenario: Scenario): Promise<void> {
  const outcomes = [];
  for (const { definition, input } of scenario.cases!) outcomes.push(await play(scenario, definition ?? (scenario.definition as JsonObject), input));
  const { ok, diffs } = compareCases(scenario, outcomes);
  expect(ok, JSON.stringify(diffs.slice(0, 3), null, 1)).toBe(true);
}

describe.each([...new Set(playable.map(areaOf))])("recorded executions: %s", (area) => {
  it.each(playable.filter((scenario) => areaOf(scenario) === area).map((scenario) => [scenario.id, scenario] as const))("%s", async (_id, scenario) => {
    await (scenario.kind === "cases" ? playCases(scenario) : playExecution(scenario));
  });
});
