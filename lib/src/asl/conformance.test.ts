// Every recorded scenario that needs nothing but the language, event by event against what AWS did.
import { describe, expect, it } from "vitest";
import {
  compareCases,
  compareError,
  compareExecution,
  compareResponse,
} from "../../../conformance/asl/compare.mjs";
import type { ExecutionState, JsonObject } from "./contract.ts";
import { play, runOnce, type Scenario, scenarios } from "./corpus.fixture.ts";
import { testState, type TestStateRequest } from "./test-state.ts";
import { TestStateError } from "./test-state-request.ts";
import { invalidDefinitionMessage, validateDefinition } from "./validate/index.ts";

/** The state survives being kept as text between any two events. */
const roundTrip = ({ state }: { readonly state: ExecutionState }): ExecutionState =>
  JSON.parse(JSON.stringify(state)) as ExecutionState;

const areaOf = ({ id }: Scenario): string => id.split("/")[0]!;
/** Where the language does not do what was recorded, and why. A test that begins to pass says so. */
const differences: Readonly<Record<string, string>> = {
  "errors/lambda-invoke-with-retry-extended-input":
    "recorded before the context object had RedriveCount, which later recordings show",
  "errors/lambda-service-invoke-with-retry-extended-input": "the same",
  "map/max-concurrency-path-negative":
    "AWS leaves the execution hanging for ever; here it fails and says why",
  "teststate/sfn-start-execution-success": "the mock in the recorded request is not the one that was sent",
};
const testOf = (id: string) => (differences[id] === undefined ? it : it.fails);

const playable = scenarios().filter(({ kind }) => kind !== "api");

async function playExecution(scenario: Scenario): Promise<void> {
  const { status, output, error, cause, history } = await play(
    scenario,
    scenario.definition,
    scenario.input,
    { observe: roundTrip },
  );
  const actual =
    scenario.type === "EXPRESS"
      ? { status, output, error, cause }
      : { status, output, error, cause, history };
  const { ok, diffs } = compareExecution(scenario, actual, { encoding: "text" });
  expect(ok, JSON.stringify(diffs.slice(0, 3), null, 1)).toBe(true);
}

async function playCases(scenario: Scenario): Promise<void> {
  const outcomes = [];
  for (const { definition, input } of scenario.cases!)
    outcomes.push(await play(scenario, definition ?? (scenario.definition as JsonObject), input));
  const { ok, diffs } = compareCases(scenario, outcomes);
  expect(ok, JSON.stringify(diffs.slice(0, 3), null, 1)).toBe(true);
}

describe.each([...new Set(playable.map(areaOf))])("recorded executions: %s", (area) => {
  for (const scenario of playable.filter((each) => areaOf(each) === area)) {
    testOf(scenario.id)(scenario.id, () =>
      scenario.kind === "cases" ? playCases(scenario) : playExecution(scenario),
    );
  }
});

interface Step {
  readonly op?: string;
  readonly request: Record<string, string>;
  readonly response?: unknown;
  readonly error?: unknown;
  readonly clientSideError?: unknown;
}

/** The pure operations; the answer of any other is not the language's. */
async function call(
  scenario: Scenario,
  { op, request }: Step,
): Promise<{ response?: unknown; error?: unknown }> {
  if (op === "TestState") return callTestState(scenario, request as unknown as TestStateRequest);
  const diagnostics = validateDefinition(request.definition!, request.type as Scenario["type"]);
  if (op === "ValidateStateMachineDefinition")
    return { response: { diagnostics, result: diagnostics.length === 0 ? "OK" : "FAIL", truncated: false } };
  return diagnostics.length === 0
    ? {}
    : { error: { code: "InvalidDefinition", message: invalidDefinitionMessage(diagnostics) } };
}

async function callTestState(
  scenario: Scenario,
  request: TestStateRequest,
): Promise<{ response?: unknown; error?: unknown }> {
  try {
    return {
      response: await testState(request, {
        nowMs: 1_700_000_000_000,
        seed: scenario.id,
        runTask: (task) => runOnce(scenario, task),
      }),
    };
  } catch (error) {
    if (!(error instanceof TestStateError)) throw error;
    return { error: { code: error.code, message: error.message } };
  }
}

async function callAndCompare(scenario: Scenario, step: Step): Promise<void> {
  const answer = await call(scenario, step);
  if (step.error)
    expect(compareError(step.error, answer.error ?? {}, scenario), JSON.stringify(answer)).toMatchObject({
      ok: true,
    });
  else if (step.response)
    expect(compareResponse(step.response, answer.response ?? answer.error, scenario)).toMatchObject({
      ok: true,
    });
}

const pureOperations = new Set(["TestState", "ValidateStateMachineDefinition"]);
const isPure = ({ op, error }: Step): boolean =>
  pureOperations.has(op ?? "") ||
  (op === "CreateStateMachine" && (error as { code?: string } | undefined)?.code === "InvalidDefinition");
const pureApi = scenarios()
  .filter(({ kind }) => kind === "api")
  .map((scenario) => ({
    scenario,
    steps: (scenario.steps as unknown as readonly Step[]).filter(
      (step) => isPure(step) && !step.clientSideError,
    ),
  }))
  .filter(({ steps }) => steps.length > 0);

describe("recorded answers of TestState and of definition checks", () => {
  for (const { scenario, steps } of pureApi) {
    testOf(scenario.id)(scenario.id, async () => {
      for (const step of steps) await callAndCompare(scenario, step);
    });
  }
});

describe("recorded definitions", () => {
  it("finds no fault in a machine that AWS took", () => {
    const faults = playable
      .flatMap(({ id, definition, type, cases = [] }) =>
        [definition, ...cases.map((each) => each.definition)].map((each) => ({ id, type, each })),
      )
      .filter(({ each }) => each !== undefined)
      .flatMap(({ id, type, each }) =>
        validateDefinition(JSON.stringify(each), type).map((fault) => [id, fault]),
      );
    expect(faults).toEqual([]);
  });
});
