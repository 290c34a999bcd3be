// The builder: one method a kind of state. Each answers a new builder and leaves the old one as it was, so that a beginning
// may serve several machines. contract.ts has its types.
import type { JsonObject } from "../../asl/contract.ts";
import type { Duration } from "../../core/duration.ts";
import type { Schema } from "../../core/schema.ts";
import type { Task } from "../declaration.ts";
import type { ErrorName, Flow, MachineOptions, Reader, Retrier } from "./contract.ts";
import * as drafts from "./draft.ts";
import { refOf, written } from "./expression.ts";
import type { Draft, Exit } from "./draft.ts";

type Making = (scope: object) => unknown;
type Branch = (flow: Building) => Built;

/** Every option that any of the methods takes. */
interface Options {
  readonly input?: Making;
  readonly output?: Making;
  readonly assign?: Making;
  readonly retry?: readonly Retrier[];
  readonly timeout?: Duration;
  readonly heartbeat?: Duration;
  readonly comment?: string;
  readonly concurrency?: number;
  readonly type?: "STANDARD" | "EXPRESS";
  readonly label?: string;
  readonly tolerate?: number | string;
  readonly resource?: string;
}

/** What is known once every way has ended. */
class Built {
  readonly draft: Draft;
  readonly options: MachineOptions<unknown>;

  constructor(draft: Draft, options: MachineOptions<unknown>) {
    this.draft = draft;
    this.options = options;
  }

  get tasks(): Readonly<Record<string, Task>> {
    return this.draft.tasks;
  }
  get input(): Schema<any, any> | undefined {
    return this.options.input;
  }
  get definition(): JsonObject {
    const { comment, timeout } = this.options;
    const head = { Comment: comment, QueryLanguage: "JSONata", TimeoutSeconds: drafts.secondsOf(timeout) };
    return drafts.given({ ...head, ...this.draft.machine });
  }
}

const vars = new Proxy({}, { get: (_target, name) => refOf(`$${String(name)}`) });
const scope = { input: refOf("$states.input"), vars, context: refOf("$states.context") };
const resultScope = { ...scope, result: refOf("$states.result") };

const made = (make: unknown, within: object = scope): unknown =>
  typeof make === "function" ? written((make as Making)(within)) : make;

/** What every state may say of itself. */
const common = (type: string, { output, assign, retry, timeout, heartbeat, comment }: Options): JsonObject =>
  drafts.given({
    Type: type,
    Comment: comment,
    TimeoutSeconds: drafts.secondsOf(timeout),
    HeartbeatSeconds: drafts.secondsOf(heartbeat),
    Retry: drafts.retriers(retry),
    Output: made(output, resultScope),
    Assign: made(assign, resultScope),
  });

const toleranceOf = (tolerate: number | string | undefined): JsonObject => {
  if (tolerate === undefined) return {};
  return typeof tolerate === "number"
    ? { ToleratedFailureCount: tolerate }
    : { ToleratedFailurePercentage: Number.parseFloat(tolerate) };
};

const callbackResource = "arn:aws:states:::lambda:invoke.waitForTaskToken";

class Building {
  readonly draft: Draft;
  readonly exits: readonly Exit[];
  readonly options: MachineOptions<unknown>;
  /** The state that `catch` speaks of. */
  readonly last: string | undefined;

  constructor(draft: Draft, exits: readonly Exit[], options: MachineOptions<unknown>, last?: string) {
    this.draft = draft;
    this.exits = exits;
    this.options = options;
    this.last = last;
  }

  #enter(name: string, state: JsonObject, draft: Draft = this.draft): Building {
    const entered = drafts.enter(draft, this.exits, name, state);
    return new Building(entered, [["States", name, "Next"]], this.options, name);
  }

  #ended(draft: Draft): Built {
    return new Built(draft, this.options);
  }

  task(name: string, task: Task, options: Options = {}): Building {
    const { draft, called } = drafts.hire(this.draft, name, task);
    const call = drafts.given({ Resource: called, Arguments: made(options.input) });
    return this.#enter(name, { ...common("Task", options), ...call }, draft);
  }

  callback(name: string, task: Task, options: Options = {}): Building {
    const { draft, called } = drafts.hire(this.draft, name, task);
    const Payload = made(options.input ?? (() => scope.input));
    const call = { Resource: callbackResource, Arguments: { FunctionName: called, Payload } };
    return this.#enter(name, { ...common("Task", options), ...call } as JsonObject, draft);
  }

  approval(name: string, task: Task, options: Options = {}): Building {
    return this.callback(name, task, options);
  }

  call(name: string, { resource, input, ...options }: Options): Building {
    const call = drafts.given({ Resource: resource, Arguments: made(input) });
    return this.#enter(name, { ...common("Task", options), ...call });
  }

  pass(name: string, output?: Making, { assign, comment }: Options = {}): Building {
    const state = { Type: "Pass", Comment: comment, Output: made(output), Assign: made(assign) };
    return this.#enter(name, drafts.given(state));
  }

  wait(
    name: string,
    time: Duration | { seconds?: Making; until?: unknown },
    { comment }: Options = {},
  ): Building {
    const length = typeof time === "string" ? { Seconds: drafts.secondsOf(time) } : undefined;
    const { seconds, until } = typeof time === "string" ? {} : time;
    const state = {
      Type: "Wait",
      Comment: comment,
      Seconds: made(seconds),
      Timestamp: made(until),
      ...length,
    };
    return this.#enter(name, drafts.given(state));
  }

  choice(name: string, { comment }: Options = {}): Choosing {
    const state = drafts.given({ Type: "Choice", Comment: comment, Choices: [] });
    return new Choosing(this.#enter(name, state), name, []);
  }

  /** A machine within this one, with this one's handlers. */
  #inner(branch: Branch, draft: Draft): Built {
    const inner = branch(new Building(drafts.emptyDraft(draft.tasks), [["StartAt"]], {}));
    if (inner instanceof Built) return inner;
    throw drafts.wrong("expected a branch (or an item's machine) to end, by end, succeed, fail or next");
  }

  parallel(name: string, branches: readonly Branch[], options: Options = {}): Building {
    let { draft } = this;
    const machines = branches.map((branch) => {
      const inner = this.#inner(branch, draft);
      draft = { ...draft, tasks: inner.tasks };
      return inner.draft.machine;
    });
    return this.#enter(name, { ...common("Parallel", options), Branches: machines } as JsonObject, draft);
  }

  #map(name: string, each: Branch, options: Options, more: object, config?: object): Building {
    const inner = this.#inner(each, this.draft);
    const state = {
      ...common("Map", options),
      ...drafts.given({ MaxConcurrency: options.concurrency, ...more }),
      ItemProcessor: drafts.given({ ProcessorConfig: config, ...inner.draft.machine }),
    };
    return this.#enter(name, state as JsonObject, { ...this.draft, tasks: inner.tasks });
  }

  map(name: string, items: Making, each: Branch, options: Options = {}): Building {
    return this.#map(name, each, options, { Items: made(items) });
  }

  distributedMap(
    name: string,
    items: Making | Reader<unknown>,
    each: Branch,
    options: Options = {},
  ): Building {
    const from = typeof items === "function" ? { Items: made(items) } : { ItemReader: items.reader };
    const more = { ...from, Label: options.label, ...toleranceOf(options.tolerate) };
    const config = { Mode: "DISTRIBUTED", ExecutionType: options.type ?? "STANDARD" };
    return this.#map(name, each, options, more, config);
  }

  aside(_shape: object, states: (flow: Building) => Built): Building {
    const { draft } = states(new Building(this.draft, [], this.options));
    return new Building(draft, this.exits, this.options, this.last);
  }

  catch(errors: readonly ErrorName[], way: (flow: Building) => Building | Built): Building {
    const state = this.last!;
    const before = (this.draft.machine.States[state]!.Catch ?? []) as readonly JsonObject[];
    const catcher = { ErrorEquals: drafts.errorNames(errors), Next: "" };
    const draft = drafts.amend(this.draft, state, { Catch: [...before, catcher] });
    const taken = way(new Building(draft, [["States", state, "Catch", before.length, "Next"]], this.options));
    return new Building(taken.draft, [...this.exits, ...exitsOf(taken)], this.options, state);
  }

  next(name: string): Built {
    return this.#ended(drafts.connect(this.draft, this.exits, name));
  }

  end(name = "Done"): Built {
    return this.#ended(drafts.end(this.draft, this.exits, name));
  }

  succeed(name: string, output?: Making): Built {
    return this.#ended(this.#enter(name, drafts.given({ Type: "Succeed", Output: made(output) })).draft);
  }

  fail(
    name: string,
    { error, cause, comment }: { error: unknown; cause?: unknown; comment?: string },
  ): Built {
    const state = { Type: "Fail", Comment: comment, Error: made(error), Cause: made(cause) };
    return this.#ended(this.#enter(name, drafts.given(state)).draft);
  }
}

const exitsOf = (way: Building | Built): readonly Exit[] => (way instanceof Building ? way.exits : []);

class Choosing {
  readonly flow: Building;
  readonly name: string;
  /** Of the ways so far: where they meet again. */
  readonly met: readonly Exit[];

  constructor(flow: Building, name: string, met: readonly Exit[]) {
    this.flow = flow;
    this.name = name;
    this.met = met;
  }

  #go(exit: Exit, change: JsonObject, way: (flow: Building) => Building | Built): Choosing {
    const draft = drafts.amend(this.flow.draft, this.name, change);
    const taken = way(new Building(draft, [exit], this.flow.options));
    const flow = new Building(taken.draft, [], this.flow.options);
    return new Choosing(flow, this.name, [...this.met, ...exitsOf(taken)]);
  }

  when(condition: Making, way: (flow: Building) => Building | Built): Choosing {
    const rules = this.flow.draft.machine.States[this.name]!.Choices as readonly JsonObject[];
    const rule = { Condition: made(condition) as string, Next: "" };
    return this.#go(
      ["States", this.name, "Choices", rules.length, "Next"],
      { Choices: [...rules, rule] },
      way,
    );
  }

  otherwise(way: (flow: Building) => Building | Built = (flow) => flow): Building | Built {
    const { flow, met } = this.#go(["States", this.name, "Default"], {}, way);
    return met.length === 0
      ? new Built(flow.draft, flow.options)
      : new Building(flow.draft, met, flow.options);
  }
}

/**
 * Begins a machine in TypeScript: each method adds a state, and what a state gives is what the next one takes. The result
 * is a document of the Amazon States Language in JSONata, for `definition` of `workflow`, with its handlers.
 */
export const machine = <Start>(
  options: MachineOptions<Start> = {},
): Flow<Start, Start, object, object, never> =>
  new Building(drafts.emptyDraft(), [["StartAt"]], options) as unknown as Flow<
    Start,
    Start,
    object,
    object,
    never
  >;

/** Items for `distributedMap` out of an object of S3; every column of a CSV file is a text. */
export const s3Items = <Item>(file: {
  readonly type: "CSV" | "JSON" | "JSONL";
  readonly bucket: string;
  readonly key: string;
  /** Of a CSV file: its columns, where its first row does not name them. */
  readonly columns?: readonly string[];
}): Reader<Item> => {
  const header = file.columns
    ? { CSVHeaderLocation: "GIVEN", CSVHeaders: file.columns }
    : { CSVHeaderLocation: "FIRST_ROW" };
  return {
    reader: {
      Resource: "arn:aws:states:::s3:getObject",
      ReaderConfig: { InputType: file.type, ...(file.type === "CSV" ? header : {}) },
      Arguments: { Bucket: file.bucket, Key: file.key },
    },
  };
};
