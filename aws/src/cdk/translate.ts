// A workflow's document as Step Functions runs it: a state that calls one of the workflow's own tasks sends a message to
// the workflow's task queue and waits until a worker has answered with the token. Everything else stays as it is written.
import type { WorkflowDefinition } from "tuntas";
import type { Json, JsonObject } from "tuntas/asl";
import { functionOf, isInvoke, parametersOf } from "tuntas/workflow";
import type { TaskMessage } from "tuntas/workflow/remote";
import { unsupported } from "./errors.ts";

/** Where each fact of the message stands in the context object. */
const facts = {
  token: "Task.Token",
  execution: "Execution.Id",
  executionName: "Execution.Name",
  startedAt: "Execution.StartTime",
  state: "State.Name",
  enteredAt: "State.EnteredTime",
  retries: "State.RetryCount",
  redrives: "Execution.RedriveCount",
} as const satisfies Partial<Record<keyof TaskMessage, string>>;

/** The variable that CloudFormation puts the task queue's address in for. */
export const taskQueueVariable = "TuntasTaskQueueUrl";

const sendAndWait = "arn:aws:states:::sqs:sendMessage.waitForTaskToken";
/** As long as a message of the task queue is kept: who waited longer would wait for nothing. */
export const taskRetentionSeconds = 14 * 86_400;

/** Where in the document a state stands. */
interface Surroundings {
  readonly jsonata: boolean;
  /** Inside children of a distributed map that run as express executions. */
  readonly express: boolean;
}

interface Translation {
  readonly workflow: WorkflowDefinition<any>;
  /** States that call what is not the workflow's own. */
  readonly others: { readonly name: string; readonly resource: string; readonly parameters: JsonObject }[];
  own: number;
}

export interface Translated extends Pick<Translation, "others" | "own"> {
  readonly definition: JsonObject;
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

// A path that leads nowhere fails the state, so only an expression can ask for it.
const itemOf = "{% $exists($states.context.Map.Item.Index) ? $states.context.Map.Item.Index : -1 %}";

/** A time of the state as the message says it: what the state has, or the path by which it finds it. */
function secondsOf(
  state: JsonObject,
  fact: "timeoutSeconds" | "heartbeatSeconds",
  otherwise: number,
): JsonObject {
  const field = fact === "timeoutSeconds" ? "TimeoutSeconds" : "HeartbeatSeconds";
  const path = state[`${field}Path`];
  return path === undefined ? { [fact]: state[field] ?? otherwise } : { [`${fact}.$`]: path };
}

function messageOf(state: JsonObject, task: string, jsonata: boolean): JsonObject {
  const resource = String(state.Resource);
  const given = Object.entries(facts).map(([fact, path]): [string, string] =>
    jsonata ? [fact, `{% $states.context.${path} %}`] : [`${fact}.$`, `$$.${path}`],
  );
  const whole: JsonObject = jsonata ? { input: "{% $states.input %}" } : { "input.$": "$" };
  const parameters = state.Parameters ?? state.Arguments;
  return {
    task,
    invoke: isInvoke(resource),
    waits: resource.endsWith(".waitForTaskToken"),
    ...Object.fromEntries(given),
    item: jsonata ? itemOf : -1,
    ...secondsOf(state, "timeoutSeconds", taskRetentionSeconds),
    ...secondsOf(state, "heartbeatSeconds", 0),
    ...(parameters === undefined ? whole : { input: parameters }),
  };
}

function ownState(state: JsonObject, task: string, { jsonata }: Surroundings): JsonObject {
  const { Parameters: _, Arguments: __, ...rest } = state;
  const limited = "TimeoutSeconds" in state || "TimeoutSecondsPath" in state;
  return {
    ...rest,
    Resource: sendAndWait,
    ...(!limited && { TimeoutSeconds: taskRetentionSeconds }),
    [jsonata ? "Arguments" : "Parameters"]: {
      QueueUrl: `\${${taskQueueVariable}}`,
      MessageBody: messageOf(state, task, jsonata),
    },
  };
}

function taskState(name: string, state: JsonObject, around: Surroundings, into: Translation): JsonObject {
  const { workflow } = into;
  const resource = String(state.Resource);
  const called = functionOf(resource, parametersOf(state));
  const what = `workflow ${workflow.name}: state ${name}`;
  const computed = called === undefined || called.startsWith("{%");
  if (isInvoke(resource) && computed && workflow.tasks.size > 0)
    throw unsupported(what, "expected FunctionName as it is, not computed, so that its task is known");
  if (called === undefined || !workflow.tasks.has(called)) {
    into.others.push({ name, resource, parameters: parametersOf(state) });
    return state;
  }
  if (around.express)
    throw unsupported(
      what,
      "express executions cannot wait for a worker; expected type STANDARD (ExecutionType in a distributed Map)",
    );
  into.own += 1;
  return ownState(state, called, around);
}

const isExpressMap = (processor: JsonObject): boolean =>
  isObject(processor.ProcessorConfig) && processor.ProcessorConfig.ExecutionType === "EXPRESS";

function translateState(
  [name, state]: [string, JsonObject],
  around: Surroundings,
  into: Translation,
): JsonObject {
  const inner = (definition: Json, express = around.express): Json =>
    isObject(definition) ? translateStates(definition, { ...around, express }, into) : definition;
  const here = { ...around, ...("QueryLanguage" in state && { jsonata: state.QueryLanguage === "JSONata" }) };
  if (state.Type === "Task") return taskState(name, state, here, into);
  if (state.Type === "Parallel" && Array.isArray(state.Branches))
    return { ...state, Branches: (state.Branches as readonly Json[]).map((each) => inner(each)) };
  const field = "ItemProcessor" in state ? "ItemProcessor" : "Iterator";
  const processor = state[field];
  if (state.Type !== "Map" || !isObject(processor)) return state;
  return { ...state, [field]: inner(processor, around.express || isExpressMap(processor)) };
}

function translateStates(definition: JsonObject, around: Surroundings, into: Translation): JsonObject {
  const states = Object.entries(definition.States as JsonObject).map(([name, state]): [string, Json] => [
    name,
    translateState([name, state as JsonObject], around, into),
  ]);
  return { ...definition, States: Object.fromEntries(states) };
}

/** Errors: TUNTAS_DEPLOY_UNSUPPORTED. */
export function translate(workflow: WorkflowDefinition<any>): Translated {
  const { definition, options } = workflow;
  const into: Translation = { workflow, others: [], own: 0 };
  const around = { jsonata: definition.QueryLanguage === "JSONata", express: options.type === "EXPRESS" };
  const translated = translateStates(definition, around, into);
  return { definition: translated, others: into.others, own: into.own };
}
