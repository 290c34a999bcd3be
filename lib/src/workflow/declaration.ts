// Declaring workflows in code: a document, and the handlers that carry out its tasks. What is wrong with either shows
// when the module is loaded, not when an execution gets there.
import type { ExecutionType, Json, JsonObject } from "../asl/contract.ts";
import type { Duration } from "../core/duration.ts";
import { toMs } from "../core/duration.ts";
import { declaring, placeOfCaller } from "../core/place.ts";
import type { InputOf, OutputOf, Schema } from "../core/schema.ts";
import { refuseUnknown, unknownOptions, type NamesOf } from "../core/options.ts";
import { wrongSlowAbove, type SlowAbove } from "../engine/handler/ease.ts";
import { wrongNumber, type Finding } from "../engine/findings.ts";
import type { Log } from "../engine/log.ts";
import type { HandlerTx } from "../engine/handler/contract.ts";
import type { Queryable, Sql } from "../pg/contract.ts";
import type { StartResult, SuppressedStart } from "./contract.ts";
import { workflowErrors } from "./contract.ts";
import type { DecidedHook } from "./approval/contract.ts";
import type { DomainView } from "./redrive/contract.ts";
import { tasksOf } from "./definition/functions.ts";
import { loadDefinition, subjectOf, type Built, type DefinitionSource } from "./definition/load.ts";

/** What a handler gets beside its input. */
export interface TaskContext {
  /**
   * The attempt's own transaction, opened at its first statement. What is written through it commits together with the
   * step's result, its command record and the advance of the execution, or not at all.
   */
  readonly tx: HandlerTx;
  /** Whether a statement of `tx` has run, so that locks may be held. */
  readonly transactionOpen: boolean;
  /** Hands a statement over: it runs after the handler returns, in a commit shared with others, with the advance. */
  write(text: string, values?: readonly unknown[]): void;
  /** The database, for what must commit by itself before the handler goes on (`effect` of the ledger). */
  readonly database: Sql;
  /** Aborts when the step times out or loses its heartbeat, the execution is stopped, or the process ends. */
  readonly signal: AbortSignal;
  /** Carries execution, state and correlation id. */
  readonly log: Log;
  /**
   * Facts for the one line that is logged of this step after its commit (event `workflow.step`, beside workflow, execution,
   * state, attempt, outcome and duration): `note({ caseId, fromStatus, toStatus })`. Without a note nothing is logged.
   */
  note(facts: Readonly<Record<string, unknown>>): void;
  /** Says that the work goes on; a state with HeartbeatSeconds fails without it. */
  heartbeat(): void;
  readonly execution: { readonly arn: string; readonly name: string; readonly startedAt: string };
  readonly workflowName: string;
  readonly stateName: string;
  /** Names this visit of this state: the same in every attempt, in a redo after a crash and in a redrive. */
  readonly idempotencyKey: string;
  /** 1 at first, then one more with each retry. */
  readonly attempt: number;
  /** Whose side effects they are, for the ledger: the execution's ARN. */
  readonly caller: string;
  /** The input's `correlationId`, else the execution's name. */
  readonly correlationId: string;
  /** Of a state that waits for its token: what an answer must show. Never store it. */
  readonly taskToken: string | undefined;
  /** Stands for the token and cannot answer by itself, so it may be stored; `tokenOf` gives the token. */
  readonly tokenReference: string | undefined;
}

export type Handle<Input = any, Output = unknown> = (
  input: Input,
  context: TaskContext,
) => Output | Promise<Output>;

export interface TaskOptions<S extends Schema = Schema, Output = unknown> {
  /** What the state hands over (the Payload of `lambda:invoke`): any Standard Schema. Else it is what it is. */
  readonly input?: S;
  /** An attempt that takes longer fails with States.Timeout; 15m by default, as a Lambda function. */
  readonly timeout?: Duration;
  /**
   * That a repeat is harmless: it writes through `ctx.tx` or `ctx.write` only, or hands `ctx.idempotencyKey` to whom it
   * calls. A state may have a Retry only where its task says so.
   */
  readonly idempotent?: boolean;
  readonly handle: Handle<OutputOf<S>, Output>;
}

export interface TaskDefinition<Input = any, Output = unknown> {
  readonly kind: "task";
  readonly options: Omit<TaskOptions<any, Output>, "handle">;
  readonly handle: Handle<any, Output>;
  /** Of an approval: what the application does with the decision, in the deciding transaction. */
  readonly decided?: DecidedHook | undefined;
  /** What it may be called with, for the builder; there is no value. */
  readonly takes?: (input: Input) => void;
}

const taskOptionNames: NamesOf<TaskOptions> = { input: true, timeout: true, idempotent: true, handle: true };

function declareTask<S extends Schema<any, any> = Schema<any>, Output = unknown>(
  options: TaskOptions<S, Output>,
): TaskDefinition<InputOf<S>, Output> {
  for (const finding of unknownOptions(options, taskOptionNames))
    throw workflowErrors.error("TUNTAS_WORKFLOW_DEFINITION", `task: ${finding}`);
  toMs(options.timeout ?? "15m");
  return { kind: "task", options, handle: options.handle as Handle<any, Output> };
}

/** Declares a handler with its input, its time and whether it may be repeated. Errors: TUNTAS_WORKFLOW_DEFINITION, TUNTAS_DURATION_INVALID. */
export const task = declaring(declareTask);

export type Task = TaskDefinition | Handle;

export interface WorkflowOptions<S extends Schema = Schema> {
  /**
   * A document of the Amazon States Language: a file (JSON or YAML; a URL, or a path from the working directory), an
   * object, or what the builder made.
   */
  readonly definition: DefinitionSource;
  /** Handlers by the name of the function (or activity) that the document's Task states call. */
  readonly tasks?: Readonly<Record<string, Task>>;
  /** Values for the document's `${placeholders}`, as CloudFormation's DefinitionSubstitutions. */
  readonly substitutions?: Readonly<Record<string, Json>>;
  /** What an execution is started with: any Standard Schema. */
  readonly input?: S;
  readonly type?: ExecutionType;
  /** Steps of this workflow that one process carries out at once; 500 by default. */
  readonly concurrency?: number;
  /**
   * While the heartbeat of the process finds the database slower than this (1ms to 60s), the process carries out fewer steps at once: a third
   * less at each beat, about a second apart, at least one, and then little by little all again. Without it never.
   */
  readonly slowAbove?: SlowAbove;
  /** The domain row that an execution works on, for whoever inspects it before a redrive. */
  readonly domain?: DomainView;
  /** Rules of `tuntas check` that this workflow breaks on purpose, and why. */
  readonly accepts?: Readonly<Record<string, string>>;
}

export interface StartOptions {
  /** Names the execution: a repeat with the same name and input finds it. A new UUID by default. */
  readonly name?: string;
  /** Starts it in this transaction: it begins when that commits, and never without it. */
  readonly tx?: Queryable | undefined;
  /** The trace that it belongs to, in the form of X-Amzn-Trace-Id. */
  readonly traceHeader?: string | undefined;
}

const startNames: NamesOf<StartOptions> = { name: true, tx: true, traceHeader: true };

export interface WorkflowDefinition<S extends Schema = Schema> {
  readonly kind: "workflow";
  readonly name: string;
  readonly options: WorkflowOptions<S>;
  /** Where it is declared, as file:line, if the stack says so. */
  readonly place: string | undefined;
  /** The document as it is kept, with everything filled in. */
  readonly definition: JsonObject;
  readonly tasks: ReadonlyMap<string, TaskDefinition>;
  /**
   * Starts an execution, once for a name. Errors: TUNTAS_WORKFLOW_INPUT, TUNTAS_WORKFLOW_NOT_STARTED, database errors.
   */
  start(input: InputOf<S>, options?: StartOptions): Promise<StartResult | SuppressedStart>;
}

export type Starter = (
  workflow: WorkflowDefinition,
  input: unknown,
  options: StartOptions,
) => Promise<StartResult | SuppressedStart>;

const starters = new WeakMap<object, Starter>();

/** Says who carries out `start` of this workflow from now on; called when an application starts and stops. */
export function bindWorkflow(workflow: WorkflowDefinition<any>, starter: Starter | undefined): void {
  if (starter) starters.set(workflow, starter);
  else starters.delete(workflow);
}

const names = /^[A-Za-z0-9_-]{1,80}$/;

const wrongIn = (subject: string, message: string): Error =>
  workflowErrors.error("TUNTAS_WORKFLOW_DEFINITION", `workflow ${subject}: ${message}`);

const wrong = (name: string, message: string): Error => wrongIn(JSON.stringify(name), message);

function toTask(workflow: string, name: string, given: Task): TaskDefinition {
  if (typeof given === "function") return { kind: "task", options: {}, handle: given };
  if (given?.kind !== "task" || typeof given.handle !== "function")
    throw wrong(workflow, `task ${name}: expected a function or task({ handle, … }), got ${typeof given}`);
  return given;
}

/** Every handler has a state that calls it, and what is tried again may be. */
function checkTasks(
  subject: string,
  definition: JsonObject,
  tasks: ReadonlyMap<string, TaskDefinition>,
): void {
  const states = tasksOf(definition);
  const called = new Set(states.map((state) => state.function));
  const isComputed = states.some(({ state }) =>
    /"(FunctionName\.\$|FunctionName":\s*"\{%)/.test(JSON.stringify(state)),
  );
  const unused = [...tasks.keys()].find((task) => !called.has(task));
  if (unused !== undefined && !isComputed) {
    const known = [...called].filter((each) => each !== undefined).join(", ") || "none";
    throw wrongIn(subject, `no state calls the task ${unused}; the document's functions are: ${known}`);
  }
  for (const { name: stateName, state, function: called } of states) {
    const own = called === undefined ? undefined : tasks.get(called);
    const retries = Array.isArray(state.Retry) && state.Retry.length > 0;
    if (own && retries && own.options.idempotent !== true)
      throw workflowErrors.error(
        "TUNTAS_WORKFLOW_RETRY",
        `workflow ${subject}: state ${stateName} has a Retry, but task ${called} does not say that it is idempotent`,
      );
  }
}

const isBuilt = (source: DefinitionSource): source is Built =>
  typeof source === "object" && "definition" in source && "tasks" in source;

/** With what the builder brought along: handlers and the schema of the input. */
function withBuilt<S extends Schema>(given: WorkflowOptions<S>): WorkflowOptions<S> {
  const { definition } = given;
  if (!isBuilt(definition)) return given;
  const { tasks, input } = definition;
  return { ...(input && { input: input as unknown as S }), ...given, tasks: { ...tasks, ...given.tasks } };
}

type Limits = Pick<WorkflowOptions, "concurrency" | "slowAbove">;

const optionNames: NamesOf<WorkflowOptions> = {
  definition: true,
  tasks: true,
  substitutions: true,
  input: true,
  type: true,
  concurrency: true,
  slowAbove: { database: true },
  domain: { key: true, read: true, statuses: true, final: true },
  accepts: true,
};

function* wrongLimits({ concurrency, slowAbove }: Limits): Generator<Finding> {
  if (concurrency !== undefined) yield wrongNumber("concurrency", concurrency, [1, 1_000_000]);
  yield wrongSlowAbove(slowAbove);
}

function declareWorkflow<Start>(
  name: string,
  options: Omit<WorkflowOptions<Schema<Start, any>>, "definition"> & { readonly definition: Built<Start> },
): WorkflowDefinition<Schema<Start, any>>;
function declareWorkflow<S extends Schema<any, any> = Schema<any>>(
  name: string,
  options: WorkflowOptions<S>,
): WorkflowDefinition<S>;
function declareWorkflow<S extends Schema<any, any> = Schema<any>>(
  name: string,
  declared: WorkflowOptions<S>,
): WorkflowDefinition<S> {
  const options = withBuilt(declared);
  if (!names.test(name))
    throw workflowErrors.error(
      "TUNTAS_WORKFLOW_NAME",
      `expected 1 to 80 letters, digits, "-" or "_", got ${JSON.stringify(name)}`,
    );
  for (const finding of [...unknownOptions(declared, optionNames), ...wrongLimits(declared)])
    if (finding) throw wrong(name, finding);
  const given = Object.entries(options.tasks ?? {});
  const tasks = new Map(given.map(([task, value]) => [task, toTask(name, task, value)]));
  const definition = loadDefinition(name, options.definition, {
    type: options.type ?? "STANDARD",
    substitutions: options.substitutions ?? {},
    tasks: [...tasks.keys()],
  });
  checkTasks(subjectOf(name, options.definition), definition, tasks);
  const made: WorkflowDefinition<S> = {
    kind: "workflow",
    name,
    options,
    place: placeOfCaller(),
    definition,
    tasks,
    async start(input, startOptions = {}) {
      refuseUnknown(`start of workflow ${name}`, startOptions, startNames);
      const starter = starters.get(made);
      if (!starter)
        throw workflowErrors.error(
          "TUNTAS_WORKFLOW_NOT_STARTED",
          `workflow ${name}: start the application that holds it before starting executions`,
        );
      return starter(made as unknown as WorkflowDefinition, input, startOptions);
    },
  };
  return made;
}

/** Declares a workflow. Errors: TUNTAS_WORKFLOW_NAME, TUNTAS_WORKFLOW_DEFINITION, TUNTAS_WORKFLOW_RETRY. */
export const workflow = declaring(declareWorkflow);
