// The builder: one method a kind of state. Each answers a new builder and leaves the old one as it was, so that a beginning
// may serve several machines. contract.ts has its types.
import type { JsonObject } from "../../asl/contract.ts";
import type { Duration } from "../../core/duration.ts";
import type { Schema } from "../../core/schema.ts";
import type { Task } from "../declaration.ts";
import type { Flow, MachineOptions } from "./contract.ts";
import * as drafts from "./draft.ts";
import type { Draft, Exit } from "./draft.ts";
import { isReader, runFields, type RunOptions } from "./run.ts";
import type { Reader } from "./items.ts";
import { made, resultScope, scope, caughtScope, type Making } from "./scope.ts";
import type { ErrorName, Retrier } from "./options.ts";

type Branch = (flow: Building) => Built;
type Way = (flow: Building) => Building | Built;

interface WayOptions {
  readonly output?: Making;
  readonly assign?: Making;
}

/** A way, or what is said of it and then the way. */
type SaidOfWay = readonly [Way] | readonly [WayOptions, Way];

function wayOf(said: SaidOfWay, within: object) {
  if (said.length === 1) return { way: said[0], fields: {} };
  const [{ output, assign }, way] = said;
  return { way, fields: drafts.given({ Output: made(output, within), Assign: made(assign, within) }) };
}

/** Every option that any of the methods takes. */
interface Options {
  readonly input?: Making;
  readonly output?: Making;
  readonly assign?: Making;
  readonly retry?: readonly Retrier[];
  readonly timeout?: Duration | Making;
  readonly heartbeat?: Duration | Making;
  readonly role?: string | Making;
  readonly comment?: string;
  readonly concurrency?: number | Making;
  readonly type?: "STANDARD" | "EXPRESS";
  readonly label?: string;
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
    const head = { Comment: comment, TimeoutSeconds: drafts.secondsOf(timeout) };
    return drafts.given({ ...head, ...drafts.inJsonata(this.draft.machine) });
  }
}

const secondsOf = (time: Duration | Making | undefined): unknown =>
  typeof time === "function" ? made(time) : drafts.secondsOf(time);

/** What every state may say of itself. */
const common = (type: string, options: Options): JsonObject => {
  const { output, assign, retry, timeout, heartbeat, role, comment } = options;
  return drafts.given({
    Type: type,
    Comment: comment,
    TimeoutSeconds: secondsOf(timeout),
    HeartbeatSeconds: secondsOf(heartbeat),
    Credentials: role === undefined ? undefined : { RoleArn: made(role) },
    Retry: drafts.retriers(retry),
    Output: made(output, resultScope),
    Assign: made(assign, resultScope),
  });
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
      ...drafts.given({ MaxConcurrency: made(options.concurrency), ...more }),
      ItemProcessor: drafts.given({ ProcessorConfig: config, ...inner.draft.machine }),
    };
    return this.#enter(name, state as JsonObject, { ...this.draft, tasks: inner.tasks });
  }

  map(name: string, items: Making | RunOptions, each: Branch, options: Options = {}): Building {
    return this.#map(name, each, options, runFields(typeof items === "function" ? { items } : items));
  }

  distributedMap(
    name: string,
    run: Making | Reader<unknown> | RunOptions,
    each: Branch,
    options: Options = {},
  ): Building {
    const fields = runFields(typeof run === "function" || isReader(run) ? { items: run } : run);
    const config = { Mode: "DISTRIBUTED", ExecutionType: options.type ?? "STANDARD" };
    return this.#map(name, each, options, { ...fields, Label: options.label }, config);
  }

  state(name: string, definition: JsonObject): Building {
    return this.#enter(name, definition);
  }

  aside(_shape: object, states: (flow: Building) => Built): Building {
    const { draft } = states(new Building(this.draft, [], this.options));
    return new Building(draft, this.exits, this.options, this.last);
  }

  catch(errors: readonly ErrorName[], ...said: SaidOfWay): Building {
    const { way, fields } = wayOf(said, caughtScope);
    const state = this.last!;
    const before = (this.draft.machine.States[state]!.Catch ?? []) as readonly JsonObject[];
    const catcher = { ErrorEquals: drafts.errorNames(errors), Next: "", ...fields };
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

  #go(exit: Exit, change: JsonObject, way: Way): Choosing {
    const draft = drafts.amend(this.flow.draft, this.name, change);
    const taken = way(new Building(draft, [exit], this.flow.options));
    const flow = new Building(taken.draft, [], this.flow.options);
    return new Choosing(flow, this.name, [...this.met, ...exitsOf(taken)]);
  }

  when(condition: Making, ...said: SaidOfWay): Choosing {
    const { way, fields } = wayOf(said, scope);
    const rules = this.flow.draft.machine.States[this.name]!.Choices as readonly JsonObject[];
    const rule = { Condition: made(condition) as string, Next: "", ...fields };
    return this.#go(
      ["States", this.name, "Choices", rules.length, "Next"],
      { Choices: [...rules, rule] },
      way,
    );
  }

  otherwise(way: Way = (flow) => flow): Building | Built {
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
