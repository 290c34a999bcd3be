// What the builder's user sees, as types: what a state is given, what it hands on, and what may come next.
//   Start    what the execution was started with
//   Current  what the state before has given, which is the input of the next
//   Vars     variables that are certainly assigned
//   Known    the states that can be gone to, each with the input that it expects
//   Ends     what the machine has given wherever it has ended so far
import type { JsonObject } from "../../asl/contract.ts";
import type { Duration } from "../../core/duration.ts";
import type { Outcome } from "../../core/outcome.ts";
import type { Schema } from "../../core/schema.ts";
import type { Handle, TaskDefinition } from "../declaration.ts";
import type { Built } from "../definition/load.ts";
import type { Expressible, Expression, Resolved, Shape } from "./expression.ts";
import type {
  Batch,
  BatchedRun,
  Items,
  Reader,
  Run,
  RunResult,
  Selected,
  Tolerated,
  Written,
} from "./items.ts";
import type {
  Call,
  Caught,
  CaughtScope,
  DistributedOptions,
  ErrorName,
  Mapped,
  MapOptions,
  Noted,
  Scope,
  TaskOptions,
  WayOptions,
} from "./options.ts";

declare const at: unique symbol;
declare const ways: unique symbol;

/** A whole machine: every way through it ends. */
export interface Machine<in Start, out Ends, out Known = object> extends Built<Start> {
  readonly [ways]: { readonly ends: Ends; readonly known: Known };
}

/** A value as JSON hands it on. */
export type Jsonified<T> = T extends { toJSON(): infer Text }
  ? Text
  : T extends undefined | void
    ? null
    : T extends readonly unknown[]
      ? { readonly [Index in keyof T]: Jsonified<T[Index]> }
      : T extends object
        ? {
            readonly [Key in keyof T]: undefined extends T[Key]
              ? Jsonified<Exclude<T[Key], undefined>> | undefined
              : Jsonified<T[Key]>;
          }
        : T;

/** What a handler's state gives: its result, without the outcomes that fail the state. */
export type ResultOf<Output> = Jsonified<Exclude<Awaited<Output>, Outcome>>;

export type AnyTask<Input, Output> = TaskDefinition<Input, Output> | Handle<Input, Output>;

/** Where a way of a Choice or a Catch has come to: it goes on, or it has ended. */
export type Way = { readonly [at]: Situation<any, any, any> } | Machine<any, any>;
interface Situation<Current, Vars, Ends> {
  readonly current: Current;
  readonly vars: Vars;
  readonly ends: Ends;
}
type CurrentOf<W> = W extends { readonly [at]: { readonly current: infer Current } } ? Current : never;
type VarsOf<W> = W extends { readonly [at]: { readonly vars: infer Vars } } ? Vars : never;
type EndsOf<W> = W extends { readonly [at]: { readonly ends: infer Ends } }
  ? Ends
  : W extends { readonly [ways]: { readonly ends: infer Ends } }
    ? Ends
    : never;
type KnownOf<R> = R extends { readonly [ways]: { readonly known: infer Known } } ? Known : never;

type AnyBranch = (...given: any[]) => Machine<any, any>;
type EndsOfAll<B extends readonly AnyBranch[]> = {
  readonly [Index in keyof B]: EndsOf<ReturnType<B[Index]>>;
};

/** What the next state is given: what `output` says, else the state's own result. */
type Given<O, Result> = [O] extends [never] ? Result : Resolved<O>;

/** A name that no state on the way has yet. */
type Fresh<Name, Known> = Name extends keyof Known ? never : Name;
type With<Known, Name extends string, Input> = Known & Readonly<Record<Name, Input>>;

/** The states that can take what is at hand. */
export type Targets<Known, Current> = {
  [Name in keyof Known]: Current extends Known[Name] ? Name : never;
}[keyof Known];

/** The machine of a child, which begins with what it is given. */
type Child<Input> = Flow<Input, Input, object, object, never>;

/** A machine that is being built; the next state takes `Current`. It is no machine until every way has ended. */
export interface Flow<Start, Current, Vars, Known, Ends> {
  readonly [at]: Situation<Current, Vars, Ends>;

  /** A handler of the application; the function has the state's name. */
  task<const N extends string, In, Out, O extends Expressible = never, A = unknown>(
    name: Fresh<N, Known>,
    task: AnyTask<In, Out>,
    options: TaskOptions<Start, Current, Vars, ResultOf<Out>, O, A> & Mapped<Start, Current, Vars, In>,
  ): Catching<Start, Given<O, ResultOf<Out>>, Vars & Resolved<A>, With<Known, N, Current>, Ends, Vars>;
  task<const N extends string, Out, O extends Expressible = never, A = unknown>(
    name: Fresh<N, Known>,
    task: AnyTask<Current, Out>,
    options?: TaskOptions<Start, Current, Vars, ResultOf<Out>, O, A>,
  ): Catching<Start, Given<O, ResultOf<Out>>, Vars & Resolved<A>, With<Known, N, Current>, Ends, Vars>;

  /** A question to people, declared by `approval()`. */
  approval<const N extends string, In, O extends Expressible = never, A = unknown>(
    name: Fresh<N, Known>,
    task: TaskDefinition<In, undefined>,
    options: TaskOptions<Start, Current, Vars, ApprovalAnswer, O, A> & Mapped<Start, Current, Vars, In>,
  ): Catching<Start, Given<O, ApprovalAnswer>, Vars & Resolved<A>, With<Known, N, Current>, Ends, Vars>;
  approval<const N extends string, O extends Expressible = never, A = unknown>(
    name: Fresh<N, Known>,
    task: TaskDefinition<Current, undefined>,
    options?: TaskOptions<Start, Current, Vars, ApprovalAnswer, O, A>,
  ): Catching<Start, Given<O, ApprovalAnswer>, Vars & Resolved<A>, With<Known, N, Current>, Ends, Vars>;

  /** A handler that hands its task token on; what comes back is the answer to the token. */
  callback<const N extends string, In, Answer, O extends Expressible = never, A = unknown>(
    name: Fresh<N, Known>,
    task: AnyTask<In, unknown>,
    options: TaskOptions<Start, Current, Vars, Answer, O, A> &
      Mapped<Start, Current, Vars, In> & { readonly returns: Shape<Answer> },
  ): Catching<Start, Given<O, Answer>, Vars & Resolved<A>, With<Known, N, Current>, Ends, Vars>;
  callback<const N extends string, Answer, O extends Expressible = never, A = unknown>(
    name: Fresh<N, Known>,
    task: AnyTask<Current, unknown>,
    options: TaskOptions<Start, Current, Vars, Answer, O, A> & { readonly returns: Shape<Answer> },
  ): Catching<Start, Given<O, Answer>, Vars & Resolved<A>, With<Known, N, Current>, Ends, Vars>;

  /** Any other resource: a queue, another machine, an HTTP endpoint, an activity. */
  call<const N extends string, Result = unknown, O extends Expressible = never, A = unknown>(
    name: Fresh<N, Known>,
    call: Call<Start, Current, Vars, Result> & TaskOptions<Start, Current, Vars, Result, O, A>,
  ): Catching<Start, Given<O, Result>, Vars & Resolved<A>, With<Known, N, Current>, Ends, Vars>;

  /** Changes what is handed on, or assigns variables. */
  pass<const N extends string, O extends Expressible = never, A = unknown>(
    name: Fresh<N, Known>,
    output?: (scope: Scope<Start, Current, Vars>) => O,
    options?: { readonly assign?: (scope: Scope<Start, Current, Vars>) => A } & Noted,
  ): Flow<Start, Given<O, Current>, Vars & Resolved<A>, With<Known, N, Current>, Ends>;

  /** Waits so long, or until an instant (ISO 8601); hands on what it was given. */
  wait<const N extends string>(
    name: Fresh<N, Known>,
    time:
      | Duration
      | { readonly seconds: (scope: Scope<Start, Current, Vars>) => Expression<number> }
      | { readonly until: string | ((scope: Scope<Start, Current, Vars>) => Expression<string>) },
    options?: Noted,
  ): Flow<Start, Current, Vars, With<Known, N, Current>, Ends>;

  /** Goes one of several ways: `.when(…)` as often as needed, then `.otherwise(…)`. Ways that did not end meet again. */
  choice<const N extends string>(
    name: Fresh<N, Known>,
    options?: Noted,
  ): Choosing<Start, Current, Vars, With<Known, N, Current>, Ends, never, never>;

  /** All ways at once; gives the list of what they gave. Each must end. */
  parallel<
    const N extends string,
    const B extends readonly ((flow: Flow<Start, Current, Vars, object, never>) => Machine<any, any>)[],
    O extends Expressible = never,
    A = unknown,
  >(
    name: Fresh<N, Known>,
    branches: B,
    options?: MapOptions<Start, Current, Vars, EndsOfAll<B>, O, A>,
  ): Catching<Start, Given<O, EndsOfAll<B>>, Vars & Resolved<A>, With<Known, N, Current>, Ends, Vars>;

  /** The same for every item, each in this execution; gives the list of what they gave. */
  map<
    const N extends string,
    Item,
    R extends Machine<any, any>,
    E extends Expressible = never,
    O extends Expressible = never,
    A = unknown,
  >(
    name: Fresh<N, Known>,
    items: Items<Start, Current, Vars, Item> | Selected<Start, Current, Vars, Item, E>,
    each: (flow: Flow<Start, Given<E, Item>, Vars, object, never>) => R,
    options?: MapOptions<Start, Current, Vars, readonly EndsOf<R>[], O, A>,
  ): Catching<Start, Given<O, readonly EndsOf<R>[]>, Vars & Resolved<A>, With<Known, N, Current>, Ends, Vars>;

  /** The same for every item, or for batches of them, each an execution of its own, which sees nothing but what it is given. */
  distributedMap<
    const N extends string,
    Item,
    R extends Machine<any, any>,
    E extends Expressible = never,
    const T extends Tolerated = never,
    const W extends Written | "flattened" = never,
    B extends Expressible = never,
    O extends Expressible = never,
    A = unknown,
  >(
    name: Fresh<N, Known>,
    run: BatchedRun<Start, Current, Vars, Item, E, T, W, B>,
    each: (flow: Child<Batch<Given<E, Item>, B>>) => R,
    options?: DistributedOptions<Start, Current, Vars, RunResult<EndsOf<R>, T, W>, O, A>,
  ): Catching<
    Start,
    Given<O, RunResult<EndsOf<R>, T, W>>,
    Vars & Resolved<A>,
    With<Known, N, Current>,
    Ends,
    Vars
  >;
  distributedMap<
    const N extends string,
    Item,
    R extends Machine<any, any>,
    E extends Expressible = never,
    const T extends Tolerated = never,
    const W extends Written | "flattened" = never,
    O extends Expressible = never,
    A = unknown,
  >(
    name: Fresh<N, Known>,
    run: Items<Start, Current, Vars, Item> | Reader<Item> | Run<Start, Current, Vars, Item, E, T, W>,
    each: (flow: Child<Given<E, Item>>) => R,
    options?: DistributedOptions<Start, Current, Vars, RunResult<EndsOf<R>, T, W>, O, A>,
  ): Catching<
    Start,
    Given<O, RunResult<EndsOf<R>, T, W>>,
    Vars & Resolved<A>,
    With<Known, N, Current>,
    Ends,
    Vars
  >;

  /** A state as the language writes it, in JSONPath too (`QueryLanguage`); without Next or End. Nothing checks its data. */
  state<const N extends string, Result = unknown>(
    name: Fresh<N, Known>,
    definition: JsonObject,
    given?: { readonly gives?: Shape<Result> },
  ): Catching<Start, Result, Vars, With<Known, N, Current>, Ends, Vars>;

  /** States off the line, to be gone to by name; the first of them takes what the shape says. Used by later states. */
  aside<Input, R extends Machine<any, any>>(
    input: Shape<Input>,
    states: (flow: Flow<Start, Input, Vars, Known, never>) => R,
  ): Flow<Start, Current, Vars, Known & KnownOf<R>, Ends | EndsOf<R>>;

  /** Goes to a state that is there already: back, for a loop, or aside. */
  next(name: Targets<Known, Current>): Machine<Start, Ends, Known>;

  /** Ends with what is at hand. Where a choice leads here, by a Succeed state of that name (Done by default). */
  end(name?: string): Machine<Start, Ends | Current, Known>;

  succeed<const N extends string, O extends Expressible = never>(
    name: Fresh<N, Known>,
    output?: (scope: Scope<Start, Current, Vars>) => O,
  ): Machine<Start, Ends | Given<O, Current>, With<Known, N, Current>>;

  fail<const N extends string>(
    name: Fresh<N, Known>,
    failure: {
      readonly error: string | ((scope: Scope<Start, Current, Vars>) => Expression<string>);
      readonly cause?: string | ((scope: Scope<Start, Current, Vars>) => Expression<string>);
    } & Noted,
  ): Machine<Start, Ends, With<Known, N, Current>>;
}

export interface ApprovalAnswer {
  readonly approvalId: string;
  readonly decision: "APPROVED" | "REJECTED";
  readonly decidedBy: string;
  readonly decidedAt: string;
  readonly reason: string;
}

/** After a state that can fail: what becomes of its errors. Ways that do not end meet the state's own again. */
export interface Catching<Start, Current, Vars, Known, Ends, Before> extends Flow<
  Start,
  Current,
  Vars,
  Known,
  Ends
> {
  catch<W extends Way>(
    errors: readonly ErrorName[],
    way: (flow: Flow<Start, Caught, Before, Known, never>) => W,
  ): Catching<Start, Current | CurrentOf<W>, Vars | VarsOf<W>, Known, Ends | EndsOf<W>, Before>;
  /** The way is given what `output` says instead of the error; `$.input` is that of the state that failed. */
  catch<W extends Way, O extends Expressible = never, A = unknown>(
    errors: readonly ErrorName[],
    options: WayOptions<CaughtScope<Start, unknown, Before>, O, A>,
    way: (flow: Flow<Start, Given<O, Caught>, Before & Resolved<A>, Known, never>) => W,
  ): Catching<Start, Current | CurrentOf<W>, Vars | VarsOf<W>, Known, Ends | EndsOf<W>, Before>;
}

/** After `choice`: it takes no state before `otherwise` has said what becomes of the rest. */
export interface Choosing<Start, Current, Vars, Known, Ends, Met, MetVars> {
  when<W extends Way>(
    condition: (scope: Scope<Start, Current, Vars>) => Expression<boolean>,
    way: (flow: Flow<Start, Current, Vars, Known, never>) => W,
  ): Choosing<Start, Current, Vars, Known, Ends | EndsOf<W>, Met | CurrentOf<W>, MetVars | VarsOf<W>>;
  /** The way is given what `output` says, with what `assign` says. */
  when<W extends Way, O extends Expressible = never, A = unknown>(
    condition: (scope: Scope<Start, Current, Vars>) => Expression<boolean>,
    options: WayOptions<Scope<Start, Current, Vars>, O, A>,
    way: (flow: Flow<Start, Given<O, Current>, Vars & Resolved<A>, Known, never>) => W,
  ): Choosing<Start, Current, Vars, Known, Ends | EndsOf<W>, Met | CurrentOf<W>, MetVars | VarsOf<W>>;
  /** Without a way, the rest goes on. */
  otherwise<W extends Way = Flow<Start, Current, Vars, Known, never>>(
    way?: (flow: Flow<Start, Current, Vars, Known, never>) => W,
  ): [Met | CurrentOf<W>] extends [never]
    ? Machine<Start, Ends | EndsOf<W>, Known>
    : Flow<Start, Met | CurrentOf<W>, MetVars | VarsOf<W>, Known, Ends | EndsOf<W>>;
}

export interface MachineOptions<Start> extends Noted {
  /** What an execution is started with: any Standard Schema. It types the machine, and is checked at each start. */
  readonly input?: Schema<Start, any>;
  /** Of the whole execution. */
  readonly timeout?: Duration;
}
