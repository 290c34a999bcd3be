// Runs a whole workflow in memory with mocked tasks: no database, no waiting. The clock is virtual, so that days pass at
// once, and the language is the one that runs in production.
import { refuseUnknown, type NamesOf } from "../core/options.ts";
import type {
  ExecutionStatus,
  Failure,
  HistoryEvent,
  Json,
  JsonObject,
  StartTask,
  TaskPattern,
} from "../asl/contract.ts";
import { simulate, type TaskStep } from "../asl/index.ts";
import type { Duration } from "../core/duration.ts";
import { toMs } from "../core/duration.ts";
import { failureOf } from "../workflow/worker/own/failure.ts";
import { functionOf, isInvoke } from "../workflow/definition/functions.ts";
import { workflowErrors } from "../workflow/contract.ts";

/** What a mocked task comes to. With `after` it takes that long; `never` waits until the state's own timeout. */
export type MockAnswer = { readonly after?: Duration } & (
  | { readonly returns: Json }
  | { readonly fails: { readonly error: string; readonly cause?: string } }
  | { readonly never: true }
);

export interface MockCall {
  readonly stateName: string;
  /** 1 at first, then one more with each retry. */
  readonly attempt: number;
  readonly nowMs: number;
}

/** A function of the task's input (what it throws fails the task), an answer, or one answer after another. */
export type Mock = ((input: any, call: MockCall) => unknown) | MockAnswer | readonly MockAnswer[];

export interface WorkflowTestOptions {
  readonly input?: unknown;
  /**
   * What tasks come to, by the name of the state or of the function (or activity, or resource) that it calls. A state that
   * waits for its token is answered by its mock: its function returns what the answer will be.
   */
  readonly mocks?: Readonly<Record<string, Mock>>;
  /** When it begins, in ms since 1970; 0 by default. */
  readonly startMs?: number;
  /** Another seed gives other jitter, ids and random numbers. */
  readonly seed?: string;
}

const optionNames: NamesOf<WorkflowTestOptions> = { input: true, mocks: true, startMs: true, seed: true };

/** A state that was entered. */
export interface PathStep {
  readonly state: string;
  readonly afterMs: number;
}

export interface WorkflowTestResult extends Failure {
  /** RUNNING where nothing is due any more, yet it waits: for an answer that no mock gives, say. */
  readonly status: ExecutionStatus;
  readonly output?: Json;
  /** The states in the order in which they were entered. */
  readonly path: readonly PathStep[];
  /** How long it took, by the virtual clock. */
  readonly durationMs: number;
  readonly history: readonly HistoryEvent[];
}

type Testable = JsonObject | { readonly definition: JsonObject };

const definitionOf = (given: Testable): JsonObject =>
  ("States" in given ? given : given.definition) as JsonObject;

const payloadOf = ({ resource, input }: StartTask): Json =>
  isInvoke(resource) ? ((input as JsonObject).Payload ?? {}) : input;

/** The answer of Lambda's Invoke API, where the document asks for it. */
const resultOf = ({ resource, pattern }: StartTask, output: Json): Json =>
  isInvoke(resource) && pattern === "requestResponse"
    ? { ExecutedVersion: "$LATEST", Payload: output, StatusCode: 200 }
    : output;

/** How a task of each pattern goes before its end. */
const before: Readonly<Record<TaskPattern, readonly TaskStep[]>> = {
  requestResponse: [],
  sync: [{ does: "start" }, { does: "submit", output: {} }],
  waitForTaskToken: [{ does: "start" }, { does: "submit", output: {} }],
};

function stepsOf(task: StartTask, answer: MockAnswer): TaskStep[] {
  const afterMs = answer.after === undefined ? 0 : toMs(answer.after, "mock");
  const lead = before[task.pattern];
  if ("never" in answer) return [...lead];
  if ("fails" in answer) return [...lead, { does: "fail", afterMs, ...answer.fails }];
  return [...lead, { does: "succeed", afterMs, output: resultOf(task, answer.returns) }];
}

function findMock({ resource, input, stateName }: StartTask, mocks: Readonly<Record<string, Mock>>): Mock {
  const names = [stateName, functionOf(resource, input), resource];
  const name = names.find((each) => each !== undefined && Object.hasOwn(mocks, each));
  if (name !== undefined) return mocks[name]!;
  throw workflowErrors.error(
    "TUNTAS_WORKFLOW_MOCK",
    `state ${stateName}: expected a mock for ${names.filter((each) => each !== undefined).join(" or ")}`,
  );
}

const jsonOf = (value: unknown): Json => JSON.parse(JSON.stringify(value ?? null)) as Json;

async function answerOf(mock: Mock, task: StartTask, nowMs: number): Promise<MockAnswer> {
  if (typeof mock !== "function") {
    const answers = Array.isArray(mock) ? (mock as readonly MockAnswer[]) : [mock as MockAnswer];
    return answers[Math.min(task.attempt, answers.length - 1)] ?? { never: true };
  }
  try {
    const call = { stateName: task.stateName, attempt: task.attempt + 1, nowMs };
    return { returns: jsonOf(await mock(payloadOf(task), call)) };
  } catch (cause) {
    const { error = "Error", cause: text } = failureOf(cause);
    return { fails: { error, ...(text === undefined ? {} : { cause: text }) } };
  }
}

function pathOf(history: readonly HistoryEvent[], startMs: number): PathStep[] {
  return history
    .filter(({ type }) => type.endsWith("StateEntered"))
    .map(({ timestamp, stateEnteredEventDetails }) => ({
      state: String(stateEnteredEventDetails?.name),
      afterMs: Math.round(timestamp * 1000 - startMs),
    }));
}

/** Runs a workflow (or its bare document) to its end. Errors: TUNTAS_WORKFLOW_MOCK where a task has no mock. */
export async function testWorkflow(
  given: Testable,
  options: WorkflowTestOptions = {},
): Promise<WorkflowTestResult> {
  refuseUnknown("testWorkflow", options, optionNames);
  const { input = {}, mocks = {}, startMs = 0, seed } = options;
  const run = await simulate(definitionOf(given), jsonOf(input), {
    startMs,
    ...(seed === undefined ? {} : { seed }),
    tasks: async (task, nowMs) => stepsOf(task, await answerOf(findMock(task, mocks), task, nowMs)),
  });
  const { state: _state, endMs: _endMs, ...rest } = run;
  // Clocks that nobody waits for any more go on to run; the history ends when the execution does.
  const durationMs = Math.round(run.history.at(-1)!.timestamp * 1000 - startMs);
  return { ...rest, path: pathOf(run.history, startMs), durationMs };
}
