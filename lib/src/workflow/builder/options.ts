// What a state of the builder may say beside its work: how its input is made, what is handed on, how long it takes, and what
// is tried again. Scopes are what its functions are given.
import type { Duration } from "../../core/duration.ts";
import type { Expressible, Expression, Ref, Shape, Template } from "./expression.ts";

export interface Context<Start> {
  readonly Execution: {
    readonly Id: string;
    readonly Input: Start;
    readonly Name: string;
    readonly RoleArn: string;
    readonly StartTime: string;
    readonly RedriveCount: number;
  };
  readonly State: { readonly Name: string; readonly EnteredTime: string; readonly RetryCount: number };
  readonly StateMachine: { readonly Id: string; readonly Name: string };
  /** Only in the input of a callback. */
  readonly Task: { readonly Token: string };
}

/** What an expression can see. */
export interface Scope<Start, Current, Vars> {
  readonly input: Ref<Current>;
  readonly vars: Ref<Vars>;
  readonly context: Ref<Context<Start>>;
}
/** As a state's `input`: what the execution was started with, where steps need the same ids and none of what was before. */
export const executionInput = <Start>($: { readonly context: Ref<Context<Start>> }): Ref<Start> =>
  $.context.Execution.Input;

/** The same after an error was caught. */
export interface CaughtScope<Start, Current, Vars> extends Scope<Start, Current, Vars> {
  readonly error: Ref<Caught>;
}
export interface ResultScope<Start, Current, Vars, Result> extends Scope<Start, Current, Vars> {
  readonly result: Ref<Result>;
}

/** What is only known when the execution is there. */
export type Made<Start, Current, Vars, T> = (scope: Scope<Start, Current, Vars>) => Expression<T>;

/** What a Catch gives. */
export interface Caught {
  readonly Error: string;
  readonly Cause: string;
}

type ErrorClass = abstract new (...given: any[]) => Error;

/** Names as Retry and Catch know them; a handler's own error classes serve as well. */
export type ErrorName =
  | "States.ALL"
  | "States.Timeout"
  | "States.HeartbeatTimeout"
  | "States.TaskFailed"
  | "States.Permissions"
  | "States.BranchFailed"
  | "States.NoChoiceMatched"
  | "States.QueryEvaluationError"
  | "States.DataLimitExceeded"
  | "States.ExceedToleratedFailureThreshold"
  | "States.ItemReaderFailed"
  | "States.ResultWriterFailed"
  | "TransientDatabaseError"
  | (string & {})
  | ErrorClass;

export interface Retrier {
  readonly errors: readonly ErrorName[];
  /** Before the first repeat, 1s by default, in whole seconds. */
  readonly interval?: Duration;
  /** Repeats, 3 by default. */
  readonly attempts?: number;
  /** What the interval is multiplied by each time, 2 by default. */
  readonly backoffRate?: number;
  readonly intervalMax?: Duration;
  /** Spreads the repeats between nothing and the interval. */
  readonly jitter?: "FULL" | "NONE";
}

export interface Noted {
  readonly comment?: string;
}

export interface StateOptions<Start, Current, Vars, Result, O extends Expressible, A> extends Noted {
  /** What the next state is given; the result by default. */
  readonly output?: (scope: ResultScope<Start, Current, Vars, Result>) => O;
  /** Variables, which every later state sees as `$.vars`. */
  readonly assign?: (scope: ResultScope<Start, Current, Vars, Result>) => A;
}

export interface TaskOptions<Start, Current, Vars, Result, O extends Expressible, A> extends StateOptions<
  Start,
  Current,
  Vars,
  Result,
  O,
  A
> {
  readonly retry?: readonly Retrier[];
  /** How long it may take, or an expression of seconds. */
  readonly timeout?: Duration | Made<Start, Current, Vars, number>;
  /** How long it may be silent. */
  readonly heartbeat?: Duration | Made<Start, Current, Vars, number>;
  /** ARN of the role by which the task is carried out, that of another account say. */
  readonly role?: string | Made<Start, Current, Vars, string>;
}

export interface Mapped<Start, Current, Vars, Input> {
  /** What the handler is given, where that is not what the state before has given. */
  readonly input: (scope: Scope<Start, Current, Vars>) => Template<Input>;
}

/** A service that is no handler: a resource of the Amazon States Language. */
export interface Call<Start, Current, Vars, Result> {
  readonly resource: string;
  readonly input?: (scope: Scope<Start, Current, Vars>) => Expressible;
  readonly returns?: Shape<Result>;
}

export interface MapOptions<Start, Current, Vars, Result, O extends Expressible, A> extends StateOptions<
  Start,
  Current,
  Vars,
  Result,
  O,
  A
> {
  /** How many items at once; all by default. */
  readonly concurrency?: number | Made<Start, Current, Vars, number>;
  readonly retry?: readonly Retrier[];
}

export interface DistributedOptions<
  Start,
  Current,
  Vars,
  Result,
  O extends Expressible,
  A,
> extends MapOptions<Start, Current, Vars, Result, O, A> {
  readonly type?: "STANDARD" | "EXPRESS";
  /** Part of the names of its runs; 40 characters at most. */
  readonly label?: string;
}

/** What a way of a Choice is given, and what it assigns. */
export interface WayOptions<S, O extends Expressible, A> {
  readonly output?: (scope: S) => O;
  readonly assign?: (scope: S) => A;
}
