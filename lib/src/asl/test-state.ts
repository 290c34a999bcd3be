// TestState: one state, evaluated by itself, with its outside world mocked and its data flow laid open.
import type { Evaluator, Failure, Json, JsonObject, StartTask } from "./contract.ts";
import { matchesError, StateFailure } from "./failure.ts";
import { argumentsOf, asking, effectiveInput, leaveUnchanged, leaveWithResult, maybe } from "./flow.ts";
import { exceedsTolerance } from "./map-run.ts";
import { checkMock, type Mock } from "./mock.ts";
import { readJson } from "./limits.ts";
import { compileState, type ItemReader, type Machine, type Setting, type StateSpec } from "./parse.ts";
import { isObject } from "./path/evaluate.ts";
import { evaluateHere } from "./query/evaluator.ts";
import type { Asking } from "./query/query.ts";
import { randomFrom } from "./random.ts";
import { retryDelayMs } from "./retry.ts";
import { type DraftBranch, type Run, scopeOf, type Visit } from "./run.ts";
import { integerOf, numberOf } from "./settings.ts";
import { enterChoice, enterFail, enterPass } from "./states/simple.ts";
import { batched, inputsOf, itemsOf, parseBody } from "./states/map.ts";
import { enterTask } from "./states/task.ts";
import { formatTimestamp } from "../core/timestamp.ts";
import { checkContext, TestStateError, readMember, readObject } from "./test-state-request.ts";
import { invalidDefinitionMessage, validateDefinition, validateState } from "./validate/index.ts";

export interface TestStateRequest {
  readonly definition: string;
  readonly stateName?: string;
  readonly roleArn?: string;
  readonly input?: string;
  readonly inspectionLevel?: "INFO" | "DEBUG" | "TRACE";
  readonly mock?: Mock;
  readonly context?: string;
  readonly variables?: string;
  readonly stateConfiguration?: StateConfiguration;
}

export interface StateConfiguration {
  readonly retrierRetryCount?: number;
  readonly mapIterationFailureCount?: number;
  readonly errorCausedByState?: string;
  readonly mapItemReaderData?: string;
}

/** The answer, as on the wire: values are JSON text. */
export interface TestStateResponse extends Failure {
  readonly status: "SUCCEEDED" | "FAILED" | "RETRIABLE" | "CAUGHT_ERROR";
  readonly output?: string;
  readonly nextState?: string;
  readonly inspectionData?: Readonly<Record<string, unknown>>;
}

export interface TestStateOptions {
  readonly evaluator?: Evaluator;
  readonly nowMs: number;
  readonly seed: string;
  /** Really runs a task that is not mocked. */
  readonly runTask?: (task: StartTask) => Promise<{ readonly output: Json } | Failure>;
}

export async function testState(
  request: TestStateRequest,
  options: TestStateOptions,
): Promise<TestStateResponse> {
  const { spec } = specOf(request);
  const input = readMember(request.input, "input", "InvalidExecutionInput");
  const context = checkContext(request.context);
  checkMock(spec, request.mock);
  const test = new StateTest(request, options, { spec, input, context });
  await test.evaluate();
  return test.response();
}

/** The state under test: the definition itself, or the one of that name anywhere in it. */
function specOf(request: TestStateRequest): { spec: StateSpec } {
  const definition = parseObject(request.definition);
  const { stateName } = request;
  const language = (definition.QueryLanguage as string | undefined) ?? "JSONPath";
  if (stateName !== undefined && !findState(definition, stateName))
    throw new TestStateError("ValidationException", "State not found in definition");
  const diagnostics =
    stateName === undefined ? validateState(definition) : validateDefinition(request.definition);
  if (diagnostics.length > 0)
    throw new TestStateError("InvalidDefinition", invalidDefinitionMessage(diagnostics));
  return {
    spec: compileState(
      "StateName",
      stateName === undefined ? definition : findState(definition, stateName)!,
      language,
    ),
  };
}

function parseObject(text: string): JsonObject {
  try {
    const value = readJson(text);
    if (isObject(value)) return value;
  } catch {
    // Falls through to the one answer for whatever is no JSON object.
  }
  throw new TestStateError("InvalidDefinition", invalidDefinitionMessage(validateDefinition(text)));
}

function findState(machine: JsonObject, name: string): JsonObject | undefined {
  const states = isObject(machine.States) ? machine.States : {};
  if (Object.hasOwn(states, name)) return states[name] as JsonObject;
  for (const state of Object.values(states).filter(isObject)) {
    const inner = [
      state.ItemProcessor,
      state.Iterator,
      ...((state.Branches as readonly Json[] | undefined) ?? []),
    ];
    for (const each of inner) {
      const found = isObject(each) ? findState(each, name) : undefined;
      if (found) return found;
    }
  }
  return undefined;
}

interface Subject {
  readonly spec: StateSpec;
  readonly input: Json;
  readonly context: JsonObject | undefined;
}

/** A visit of one state, from the outside. */
class StateTest implements Visit {
  readonly request: TestStateRequest;
  readonly options: TestStateOptions;
  readonly spec: StateSpec;
  readonly run: Run;
  readonly branch: DraftBranch;
  readonly inspected: Record<string, unknown> = {};
  status: TestStateResponse["status"] = "SUCCEEDED";
  failure: Failure = {};

  constructor(request: TestStateRequest, options: TestStateOptions, { spec, input, context }: Subject) {
    this.request = request;
    this.options = options;
    this.spec = spec;
    const { nowMs, seed } = options;
    const random = randomFrom(seed);
    const machine: Machine = { startAt: spec.name, states: new Map([[spec.name, spec]]), readsContext: true };
    const variables = readObject(request.variables, "variables");
    this.branch = {
      id: 0,
      state: spec.name,
      input,
      enteredEventId: 0,
      enteredMs: nowMs,
      lastEventId: 0,
      variables,
    };
    this.run = {
      machine,
      event: { type: "timerFired", timer: 0, nowMs, seed },
      random,
      state: {
        execution: identity(request.roleArn, random.uuid(), nowMs),
        status: "RUNNING",
        input,
        lastEventId: 0,
        serial: 0,
        branches: [this.branch],
      },
      events: [],
      commands: [],
      ready: [],
      keepHistory: false,
      isOwn: undefined,
      tokenOf: undefined,
      texts: { value: undefined, text: "" },
      inspect: (name, value) => void (this.inspected[name] = JSON.stringify(value)),
      ...(context === undefined ? {} : { context }),
    };
  }

  async evaluate(): Promise<void> {
    this.inspected.input = JSON.stringify(this.branch.input);
    if (Object.keys(this.branch.variables ?? {}).length > 0)
      this.inspected.variables = JSON.stringify(this.branch.variables);
    try {
      await (this.spec.type === "Task" && !this.request.mock ? this.runTask() : this.drive(this.work()));
    } catch (error) {
      if (!(error instanceof StateFailure)) throw error;
      await this.fail(error);
    }
  }

  /** A task without a mock is really run, by whoever can. */
  async runTask(): Promise<void> {
    const { run, options } = this;
    await this.drive(asking(enterTask(this)));
    const command = run.commands.find(({ type }) => type === "startTask") as StartTask;
    const answer = await options.runTask?.(command);
    if (!answer)
      throw new TestStateError(
        "ValidationException",
        "A Task state that is not mocked needs a place to run.",
      );
    if (!("output" in answer)) throw new StateFailure(answer);
    run.inspect!("result", answer.output);
    await this.drive(asking(leaveWithResult(this, answer.output)));
  }

  async drive(work: Asking<void>): Promise<void> {
    const { evaluator = evaluateHere } = this.options;
    let step = work.next();
    while (!step.done) {
      let answer: unknown;
      try {
        answer = await evaluator(step.value);
      } catch (error) {
        step = work.throw(error);
        continue;
      }
      step = work.next(answer);
    }
  }

  *work(): Asking<void> {
    const { run, spec } = this;
    switch (spec.type) {
      case "Task":
        return yield* this.task();
      case "Map":
        return yield* this.map();
      case "Parallel":
        return yield* asking(leaveWithResult(this, this.mocked()));
      case "Choice":
        return yield* asking(enterChoice(this));
      case "Fail":
        effectiveInput(this);
        return yield* asking(enterFail(this));
      case "Pass":
        if (spec.result !== undefined) run.inspect!("result", spec.result);
        return yield* asking(enterPass(this));
      default:
        return yield* asking(leaveUnchanged(this, spec.next));
    }
  }

  *task(): Asking<void> {
    const { run } = this;
    yield* argumentsOf(this, { taskToken: run.random.uuid() });
    const result = this.mocked();
    run.inspect!("result", result);
    yield* asking(leaveWithResult(this, result));
  }

  *map(): Asking<void> {
    const map = this.spec.map!;
    const input = effectiveInput(this);
    const items = map.reader ? this.readerItems(map.reader) : yield* itemsOf(this, input);
    if (!map.reader && this.spec.language === "JSONPath") this.run.inspect!("afterItemsPath", items);
    yield* this.inspectInputs(input, items);
    yield* this.inspectSetting("maxConcurrency", map.maxConcurrency, 0);
    const failureCount = yield* this.inspectSetting("toleratedFailureCount", map.toleratedCount);
    const failurePercentage = yield* this.inspectSetting(
      "toleratedFailurePercentage",
      map.toleratedPercentage,
    );
    const failed = this.request.stateConfiguration?.mapIterationFailureCount ?? 0;
    const tolerance = {
      ...(failureCount === undefined ? {} : { failureCount }),
      ...(failurePercentage === undefined ? {} : { failurePercentage }),
    };
    const tolerates = failureCount !== undefined || failurePercentage !== undefined;
    if (tolerates && exceedsTolerance(tolerance, items.length, failed)) {
      throw new StateFailure({
        error: "States.ExceedToleratedFailureThreshold",
        cause: "The specified tolerated failure threshold was exceeded",
      });
    }
    yield* asking(leaveWithResult(this, this.mocked()));
  }

  /** What the reader makes of the data that is given as its source holds it. */
  readerItems(reader: ItemReader): readonly Json[] {
    const data = this.request.stateConfiguration?.mapItemReaderData;
    const items = data === undefined ? [] : parseBody(data, reader);
    if (reader.config.ItemsPointer !== undefined) this.run.inspect!("afterItemsPointer", items);
    return items;
  }

  /** What the iterations, or the children with their batches, would be given. */
  *inspectInputs(input: Json, items: readonly Json[]): Asking<void> {
    const { run, spec } = this;
    const map = spec.map!;
    const inputs = yield* inputsOf(this, input, items);
    if (map.selector) run.inspect!("afterItemSelector", inputs);
    if (map.batcher) run.inspect!("afterItemBatcher", yield* batched(this, map, inputs));
  }

  *inspectSetting(name: string, setting: Setting | undefined, fallback?: number): Asking<number | undefined> {
    const scope = scopeOf(this, this.branch.input);
    const value = setting
      ? yield* name.endsWith("Percentage") ? numberOf(setting, scope) : integerOf(setting, scope)
      : fallback;
    if (value !== undefined) this.inspected[name] = value;
    return value;
  }

  /** The mocked result, or the mocked error. */
  mocked(): Json {
    const { mock } = this.request;
    if (mock?.errorOutput) throw new StateFailure(mock.errorOutput);
    return readMember(mock?.result, "mock.result");
  }

  async fail(failure: StateFailure): Promise<void> {
    this.failure = failure.failure;
    this.status = "FAILED";
    const details: Record<string, number> = {};
    const retriers = failure.options.terminal ? [] : this.spec.retriers;
    const retryIndex = retriers.findIndex(({ errors }) => matchesError(errors, failure));
    const used = this.request.stateConfiguration?.retrierRetryCount ?? 0;
    const retrier = retriers[retryIndex];
    if (retrier) details.retryIndex = retryIndex;
    if (retrier && used < retrier.maxAttempts) {
      this.status = "RETRIABLE";
      details.retryBackoffIntervalSeconds = retryDelayMs(retrier, used, 1) / 1000;
    } else await this.catch(failure, details);
    if (Object.keys(details).length > 0) this.inspected.errorDetails = details;
  }

  async catch(failure: StateFailure, details: Record<string, number>): Promise<void> {
    const catchIndex = failure.options.terminal
      ? -1
      : this.spec.catchers.findIndex(({ errors }) => matchesError(errors, failure));
    const catcher = this.spec.catchers[catchIndex];
    if (!catcher) return;
    details.catchIndex = catchIndex;
    this.status = "CAUGHT_ERROR";
    const errorOutput: Json = { Error: failure.failure.error ?? null, Cause: failure.failure.cause ?? null };
    const { branch } = this;
    const scope = scopeOf(this, branch.input, { errorOutput });
    let output: Json | undefined;
    await this.drive(
      (function* (): Asking<void> {
        output = yield* maybe(catcher.output, scope);
      })(),
    );
    branch.input = output ?? catcher.resultPath(branch.input, errorOutput);
    branch.state = catcher.next;
  }

  response(): TestStateResponse {
    const { status, failure, branch, spec } = this;
    const left = status === "SUCCEEDED" || status === "CAUGHT_ERROR";
    const detailed = (this.request.inspectionLevel ?? "INFO") !== "INFO";
    return {
      status,
      ...failure,
      ...(left ? { output: JSON.stringify(branch.input) } : {}),
      ...(left && branch.state !== "" && branch.state !== spec.name ? { nextState: branch.state } : {}),
      ...(detailed ? { inspectionData: this.inspected } : {}),
    };
  }
}

const account = "arn:aws:states:us-east-1:000000000000";

const identity = (roleArn: string | undefined, name: string, nowMs: number) => ({
  id: `${account}:express:StateMachine:${name}`,
  name,
  roleArn: roleArn ?? null,
  startTime: formatTimestamp(nowMs),
  machineId: `${account}:stateMachine:StateMachine`,
  machineName: "StateMachine",
});
