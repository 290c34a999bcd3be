// Plays the scenarios of conformance/asl in memory: the behaviours of its README as mocked tasks.
import { loadCorpus } from "../../../conformance/asl/compare.mjs";
import type { Failure, Json, JsonObject, StartTask } from "./contract.ts";
import { compileMachine } from "./parse.ts";
import { simulate, type Simulation, type SimulationOptions, type TaskStep } from "./simulate.ts";
import { formatTimestamp } from "../core/timestamp.ts";

export interface Scenario {
  readonly id: string;
  readonly kind: "execution" | "cases" | "api";
  readonly type: "STANDARD" | "EXPRESS";
  readonly definition: JsonObject;
  readonly input: Json;
  readonly tasks?: Readonly<Record<string, Behaviour>>;
  readonly machines?: Readonly<Record<string, { readonly type: string; readonly definition: JsonObject }>>;
  readonly s3Objects?: readonly { readonly bucket: string; readonly key: string; readonly body: string }[];
  readonly cases?: readonly {
    readonly definition?: JsonObject;
    readonly input: Json;
    readonly expected: JsonObject;
  }[];
  readonly steps?: readonly Readonly<Record<string, unknown>>[];
  readonly executionName?: string;
}

interface Call {
  readonly succeed?: Json;
  readonly fail?: Failure;
  readonly submit?: Json;
  readonly submitFail?: Failure;
  readonly then?: { readonly succeed?: Json; readonly fail?: Failure; readonly none?: unknown };
  readonly heartbeats?: { readonly count: number; readonly afterSeconds: number };
}

export interface Behaviour {
  readonly behavior: string;
  readonly value?: Json;
  readonly prefix?: string;
  readonly text?: string;
  readonly count?: number;
  readonly seconds?: number;
  readonly then?: Behaviour;
  readonly error?: string;
  readonly cause?: Json;
  readonly calls?: readonly Call[];
  readonly recordedCalls?: readonly Call[];
  readonly worker?: readonly Readonly<Record<string, unknown>>[];
  readonly workerName?: string;
  readonly deleted?: boolean;
}

export const scenarios = (): readonly Scenario[] =>
  (
    loadCorpus(new URL("../../../conformance/asl/corpus", import.meta.url).pathname) as {
      scenario: Scenario;
    }[]
  ).map(({ scenario }) => scenario);

const startMs = 1_700_000_000_000;
const prefix = "arn:aws:states:us-east-1:111111111111";

/** A task of the scenario, run once by itself: for TestState. */
export async function runOnce(
  scenario: Scenario,
  task: StartTask,
): Promise<{ readonly output: Json } | Failure> {
  const end = (await stepsOf(scenario, task, new Map())).at(-1);
  if (end?.does === "succeed") return { output: end.output };
  return end?.does === "fail"
    ? {
        ...(end.error === undefined ? {} : { error: end.error }),
        ...(end.cause === undefined ? {} : { cause: end.cause }),
      }
    : {};
}

/** Runs one machine of a scenario to its end. */
export function play(
  scenario: Scenario,
  definition: JsonObject,
  input: Json,
  extra: Partial<SimulationOptions> = {},
): Promise<Simulation> {
  const name = scenario.executionName ?? "execution-name";
  const calls = new Map<string, number>();
  return simulate(compileMachine(definition), input, {
    startMs,
    execution: {
      id:
        scenario.type === "EXPRESS"
          ? `${prefix}:express:machine:${name}:run`
          : `${prefix}:execution:machine:${name}`,
      name,
      roleArn: "arn:aws:iam::111111111111:role/sfn_role_1",
      startTime: formatTimestamp(startMs),
      machineId: `${prefix}:stateMachine:machine`,
      machineName: "machine",
    },
    tasks: (task) => stepsOf(scenario, task, calls),
    objects: (_resource, { Bucket, Key }) =>
      scenario.s3Objects?.find(({ bucket, key }) => bucket === Bucket && key === Key)?.body ?? {
        error: "S3.NoSuchKeyException",
      },
    ...extra,
  });
}

function stepsOf(
  scenario: Scenario,
  task: StartTask,
  calls: Map<string, number>,
): readonly TaskStep[] | Promise<readonly TaskStep[]> {
  const { key, behaviour } = behaviourOf(scenario, task);
  if (!behaviour) return [{ does: "fail", ...noSuchFunction(functionName(task)) }];
  const count = calls.get(key) ?? 0;
  calls.set(key, count + 1);
  if (behaviour.behavior === "activity") return activitySteps(behaviour, task.input);
  if (behaviour.behavior === "nested") return nestedSteps(scenario, behaviour, task, count);
  const call = behaviour.calls?.[count];
  if (behaviour.behavior === "replay") return call ? callSteps(call) : [];
  return functionSteps(behaviour, task);
}

const functionName = ({ input, resource, kind }: StartTask): string =>
  kind === "lambda" ? resource : String((input as JsonObject | null)?.FunctionName ?? "");

function behaviourOf(
  { tasks = {} }: Scenario,
  task: StartTask,
): { key: string; behaviour: Behaviour | undefined } {
  const name = functionName(task);
  const key = [task.resource, name, name.split(":function:")[1]?.split(":")[0] ?? name].find((each) =>
    Object.hasOwn(tasks, each),
  );
  return { key: key ?? "", behaviour: key === undefined ? undefined : tasks[key] };
}

const noSuchFunction = (name: string): Failure => {
  const arn = name.startsWith("arn:") ? name : `arn:aws:lambda:us-east-1:111111111111:function:${name}`;
  return {
    error: "Lambda.ResourceNotFoundException",
    cause: `Function not found: ${arn}:$LATEST (Service: AWSLambda; Status Code: 404; Error Code: ResourceNotFoundException; Request ID: 00000000-0000-4000-8000-000000000000; Proxy: null)`,
  };
};

function callSteps(call: Call): readonly TaskStep[] {
  if (call.submitFail) return [{ does: "fail", phase: "submit", ...call.submitFail }];
  if (call.submit === undefined)
    return call.fail
      ? [{ does: "fail", ...call.fail }]
      : call.succeed === undefined
        ? []
        : [{ does: "succeed", output: call.succeed }];
  const beats = call.heartbeats
    ? Array.from({ length: call.heartbeats.count }, (): TaskStep => ({
        does: "heartbeat",
        afterMs: call.heartbeats!.afterSeconds * 1000,
      }))
    : [];
  return [{ does: "submit", output: call.submit }, ...beats, ...endingSteps(call.then ?? {})];
}

function endingSteps(then: NonNullable<Call["then"]>): readonly TaskStep[] {
  if (then.fail) return [{ does: "fail", ...then.fail }];
  return then.succeed === undefined ? [] : [{ does: "succeed", output: then.succeed }];
}

function functionSteps(behaviour: Behaviour, task: StartTask): readonly TaskStep[] {
  if (behaviour.behavior === "delay")
    return [
      { does: "start" },
      ...functionSteps(behaviour.then!, task).map((step) => ({
        ...step,
        afterMs: behaviour.seconds! * 1000,
      })),
    ];
  if (behaviour.behavior === "raise")
    return [
      {
        does: "fail",
        error: behaviour.error!,
        ...(behaviour.cause === undefined ? {} : { cause: JSON.stringify(behaviour.cause) }),
      },
    ];
  if (task.kind === "lambda") return [{ does: "succeed", output: answerOf(behaviour, task.input) }];
  const { Payload, LogType } = task.input as JsonObject;
  const answer = invocation(
    answerOf(behaviour, typeof Payload === "string" ? parsed(Payload) : (Payload ?? {})),
  );
  return [{ does: "succeed", output: LogType === "Tail" ? { ...answer, LogResult: "log" } : answer }];
}

function answerOf(behaviour: Behaviour, payload: Json): Json {
  if (behaviour.behavior === "constant") return behaviour.value ?? null;
  if (behaviour.behavior === "prefix")
    return `${behaviour.prefix}${typeof payload === "string" ? payload : JSON.stringify(payload).replaceAll('"', "'")}`;
  return behaviour.behavior === "repeat" ? behaviour.text!.repeat(behaviour.count!) : payload;
}

/** Lambda takes JSON text; what is none reaches the function as a string. */
function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

const invocation = (Payload: Json): JsonObject => ({
  ExecutedVersion: "$LATEST",
  Payload,
  SdkHttpMetadata: {},
  SdkResponseMetadata: {},
  StatusCode: 200,
});

function activitySteps(behaviour: Behaviour, input: Json): readonly TaskStep[] {
  if (behaviour.deleted) return [{ does: "fail", phase: "schedule", error: "ActivityDoesNotExist" }];
  let afterMs = 0;
  return (behaviour.worker ?? []).flatMap((step): readonly TaskStep[] => {
    if (typeof step.waitSeconds === "number") {
      afterMs += step.waitSeconds * 1000;
      return [];
    }
    const done = { ...activityStep(step, behaviour, input), afterMs };
    afterMs = 0;
    return [done];
  });
}

function activityStep(
  step: Readonly<Record<string, unknown>>,
  { workerName }: Behaviour,
  input: Json,
): TaskStep {
  if (step.getTask) return { does: "start", ...(workerName === undefined ? {} : { workerName }) };
  if (step.sendHeartbeat) return { does: "heartbeat" };
  if (step.sendSuccess !== undefined)
    return { does: "succeed", output: step.sendSuccess === "input" ? input : (step.sendSuccess as Json) };
  const failure = step.sendFailure as Failure;
  return { does: "fail", ...failure, ...(failure.cause === "input" ? { cause: JSON.stringify(input) } : {}) };
}

/** Runs the target machine, and answers in the words of the recorded call. */
async function nestedSteps(
  scenario: Scenario,
  behaviour: Behaviour,
  task: StartTask,
  count: number,
): Promise<readonly TaskStep[]> {
  const { StateMachineArn, Input } = task.input as { StateMachineArn: string; Input?: Json };
  const target = scenario.machines?.[StateMachineArn];
  const recorded = behaviour.recordedCalls?.[count];
  if (!target || !recorded) return recorded ? callSteps(recorded) : [];
  const input = typeof Input === "string" ? (JSON.parse(Input) as Json) : (Input ?? {});
  const child = await play(scenario, target.definition, input);
  const undescribed = child.error === "Lambda.ResourceNotFoundException";
  const agrees =
    task.pattern !== "sync" || (child.status === "SUCCEEDED") === (recorded.then?.succeed !== undefined);
  if (!agrees && !undescribed)
    throw new Error(`The nested machine ended ${child.status}, which is not what was recorded.`);
  return callSteps(recorded);
}
