// Compiles a definition, once: paths are parsed, templates prepared, rules turned into questions. What comes out is
// immutable and shared by all executions. The definition is taken to be valid; `validate/` says whether it is.
import { compileCondition, compileRule, type Condition } from "./choice.ts";
import type { ExecutionType, Json, JsonObject } from "./contract.ts";
import { jsonata } from "./query/jsonata.ts";
import { jsonPath, namedPath, pathField } from "./query/jsonpath.ts";
import { type Asking, literal, type Query, type QueryLanguage, type Scope } from "./query/query.ts";
import { compileResultPath, type ResultPath } from "./result-path.ts";

export interface Machine {
  readonly startAt: string;
  readonly states: ReadonlyMap<string, StateSpec>;
  readonly timeoutSeconds?: number;
  /** Some expression may read the context object, so the execution's input must be kept. */
  readonly readsContext: boolean;
}

export type StateType = "Pass" | "Task" | "Choice" | "Wait" | "Succeed" | "Fail" | "Parallel" | "Map";

/** A number or text given as a literal, by a path, or by an expression. */
export interface Setting {
  readonly query: Query;
  /** The field as written, for messages. */
  readonly field: string;
  readonly text: string;
  readonly byPath: boolean;
}

export interface Retrier {
  readonly errors: readonly string[];
  readonly intervalSeconds: number;
  readonly maxAttempts: number;
  readonly backoffRate: number;
  readonly maxDelaySeconds?: number;
  readonly fullJitter: boolean;
}

export interface Catcher {
  readonly errors: readonly string[];
  readonly next: string;
  readonly resultPath: ResultPath;
  readonly output?: Query;
  readonly assign?: Query;
}

export interface ChoiceRule {
  readonly next: string;
  readonly test: Condition | undefined;
  readonly ask: ((scope: Scope) => Asking<boolean>) | undefined;
  readonly output?: Query;
  readonly assign?: Query;
}

export interface ItemReader {
  readonly resource: string;
  readonly parameters: Query;
  readonly inputType: string;
  readonly config: JsonObject;
  readonly maxItems?: Setting;
}

export interface ItemBatcher {
  readonly maxItems?: Setting;
  readonly maxInputBytes?: Setting;
  readonly batchInput?: Query;
}

export interface ResultWriter {
  /** Where to in S3; without it the results are only transformed. */
  readonly parameters?: Query;
  readonly config: JsonObject;
}

export interface MapSpec {
  readonly processor: Machine;
  readonly distributed: boolean;
  readonly executionType: ExecutionType;
  readonly items?: Query;
  readonly itemsField?: Json;
  readonly selector?: Query;
  readonly maxConcurrency?: Setting;
  readonly toleratedCount?: Setting;
  readonly toleratedPercentage?: Setting;
  readonly reader?: ItemReader;
  readonly batcher?: ItemBatcher;
  readonly writer?: ResultWriter;
  readonly label?: string;
}

export interface StateSpec {
  readonly name: string;
  readonly type: StateType;
  readonly language: "JSONPath" | "JSONata";
  readonly enteredEvent: string;
  readonly exitedEvent: string;
  readonly next?: string;
  readonly inputPath?: Query;
  readonly outputPath?: Query;
  /** Parameters or Arguments. */
  readonly parameters?: Query;
  readonly resultSelector?: Query;
  readonly resultPath: ResultPath;
  readonly output?: Query;
  readonly assign?: Query;
  readonly retriers: readonly Retrier[];
  readonly catchers: readonly Catcher[];
  /** Pass: the literal Result. */
  readonly result?: Json;
  readonly resource?: string;
  readonly roleArn?: Query;
  readonly timeout?: Setting;
  readonly heartbeat?: Setting;
  readonly seconds?: Setting;
  readonly timestamp?: Setting;
  readonly choices: readonly ChoiceRule[];
  readonly defaultNext?: string;
  readonly error?: Query;
  readonly cause?: Query;
  readonly branches: readonly Machine[];
  readonly map?: MapSpec;
  readonly definition: JsonObject;
}

export function compileMachine(definition: JsonObject): Machine {
  const language = (definition.QueryLanguage as string | undefined) ?? "JSONPath";
  return compileStates(definition, language, mentionsContext(definition));
}

const mentionsContext = (definition: JsonObject): boolean => {
  const text = JSON.stringify(definition);
  return text.includes("$$") || /\$states(?!\.(?:input|result|errorOutput)\b)/.test(text);
};

/** A state without a language of its own speaks the whole machine's, not that of the state that contains it. */
function compileStates(definition: JsonObject, inherited: string, readsContext: boolean): Machine {
  const states = Object.entries(definition.States as JsonObject);
  return {
    startAt: definition.StartAt as string,
    states: new Map(
      states.map(([name, state]) => [name, compileState(name, state as JsonObject, inherited, readsContext)]),
    ),
    ...optional("timeoutSeconds", definition.TimeoutSeconds as number | undefined),
    readsContext,
  };
}

/** The field, or nothing: an optional property may be left out but not be undefined. */
export function optional<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]?: V });
}

/** Compiles one state; for TestState it may stand alone. */
export function compileState(
  name: string,
  state: JsonObject,
  inherited: string,
  readsContext = true,
): StateSpec {
  const language = ((state.QueryLanguage as string | undefined) ?? inherited) as StateSpec["language"];
  const isPath = language === "JSONPath";
  const fields = new Fields(state, isPath ? jsonPath : jsonata);
  return {
    name,
    type: state.Type as StateType,
    language,
    enteredEvent: `${state.Type as string}StateEntered`,
    exitedEvent: `${state.Type as string}StateExited`,
    definition: state,
    ...optional("next", state.Next as string | undefined),
    ...(isPath
      ? pathFields(state, fields)
      : { ...fields.template("parameters", "Arguments"), ...fields.template("output", "Output") }),
    ...fields.template("assign", "Assign"),
    resultPath: compileResultPath(isPath ? state.ResultPath : undefined),
    retriers: ((state.Retry as readonly JsonObject[] | undefined) ?? []).map(compileRetrier),
    catchers: ((state.Catch as readonly JsonObject[] | undefined) ?? []).map((catcher, i) =>
      compileCatcher(catcher, fields, i),
    ),
    choices: ((state.Choices as readonly JsonObject[] | undefined) ?? []).map((rule, i) =>
      compileChoice(rule, fields, i),
    ),
    ...typeFields(state, fields),
    branches: ((state.Branches as readonly JsonObject[] | undefined) ?? []).map((branch) =>
      compileStates(branch, inherited, readsContext),
    ),
    ...(state.Type === "Map" ? { map: compileMap(state, fields, inherited, readsContext) } : {}),
  };
}

/** Reads fields of one definition object in the state's query language. */
class Fields {
  readonly from: JsonObject;
  readonly language: QueryLanguage;

  constructor(from: JsonObject, language: QueryLanguage) {
    this.from = from;
    this.language = language;
  }

  within(from: JsonObject): Fields {
    return new Fields(from, this.language);
  }

  template<K extends string>(key: K, field: string, location = field): { [P in K]?: Query } {
    const value = this.from[field];
    return value === undefined
      ? {}
      : (optional(key, this.language.template(value, location)) as { [P in K]?: Query });
  }

  /** `Seconds` or, in JSONPath, `SecondsPath`. */
  setting<K extends string>(key: K, field: string, location = field): { [P in K]?: Setting } {
    const path = this.language.name === "JSONPath" ? this.from[`${field}Path`] : undefined;
    if (path !== undefined)
      return optional(key, pathSetting(path as string, `${field}Path`)) as { [P in K]?: Setting };
    const value = this.from[field];
    if (value === undefined) return {};
    const query = this.language.name === "JSONata" ? this.language.template(value, location) : literal(value);
    return optional(key, { query, field, text: String(value), byPath: false }) as { [P in K]?: Setting };
  }
}

function pathSetting(text: string, field: string): Setting {
  return { query: pathField(text) ?? { now: (scope) => scope.input }, field, text, byPath: true };
}

function pathFields(state: JsonObject, fields: Fields): Partial<StateSpec> {
  return {
    ...optional("inputPath", pathField(state.InputPath)),
    ...optional("outputPath", pathField(state.OutputPath)),
    ...(state.Type === "Map" ? {} : fields.template("parameters", "Parameters")),
    ...fields.template("resultSelector", "ResultSelector"),
  };
}

function typeFields(state: JsonObject, fields: Fields): Partial<StateSpec> {
  const credentials = state.Credentials as JsonObject | undefined;
  return {
    ...optional("result", fields.language.name === "JSONPath" ? state.Result : undefined),
    ...optional("resource", state.Resource as string | undefined),
    ...optional("defaultNext", state.Default as string | undefined),
    ...fields.setting("timeout", "TimeoutSeconds"),
    ...fields.setting("heartbeat", "HeartbeatSeconds"),
    ...fields.setting("seconds", "Seconds"),
    ...fields.setting("timestamp", "Timestamp"),
    ...optional("error", failField(state, fields, "Error")),
    ...optional("cause", failField(state, fields, "Cause")),
    ...optional("roleArn", credentials && roleField(credentials, fields)),
  };
}

function failField(state: JsonObject, fields: Fields, name: "Error" | "Cause"): Query | undefined {
  const path = state[`${name}Path`];
  if (fields.language.name === "JSONPath" && path !== undefined)
    return namedPath(path as string, `${name}Path`);
  const value = state[name];
  if (value === undefined) return undefined;
  return fields.language.name === "JSONata" ? fields.language.template(value, name) : literal(value);
}

const roleField = (credentials: JsonObject, fields: Fields): Query => {
  const template = fields.language.template(credentials, "Credentials");
  const pick = (value: Json): Json => (value as JsonObject).RoleArn ?? null;
  if (template.now) return { now: (scope) => pick(template.now!(scope)) };
  return {
    *later(scope) {
      return pick(yield* template.later!(scope));
    },
  };
};

function compileRetrier(retrier: JsonObject): Retrier {
  return {
    errors: retrier.ErrorEquals as readonly string[],
    intervalSeconds: (retrier.IntervalSeconds as number | undefined) ?? 1,
    maxAttempts: (retrier.MaxAttempts as number | undefined) ?? 3,
    backoffRate: (retrier.BackoffRate as number | undefined) ?? 2,
    ...optional("maxDelaySeconds", retrier.MaxDelaySeconds as number | undefined),
    fullJitter: retrier.JitterStrategy === "FULL",
  };
}

function compileCatcher(catcher: JsonObject, fields: Fields, index: number): Catcher {
  const own = fields.within(catcher);
  return {
    errors: catcher.ErrorEquals as readonly string[],
    next: catcher.Next as string,
    resultPath: compileResultPath(fields.language.name === "JSONPath" ? catcher.ResultPath : undefined),
    ...(fields.language.name === "JSONata" ? own.template("output", "Output", `Catch[${index}]/Output`) : {}),
    ...own.template("assign", "Assign", `Catch[${index}]/Assign`),
  };
}

function compileChoice(rule: JsonObject, fields: Fields, index: number): ChoiceRule {
  const own = fields.within(rule);
  const isPath = fields.language.name === "JSONPath";
  return {
    next: rule.Next as string,
    test: isPath ? compileRule(rule) : undefined,
    ask: isPath ? undefined : compileCondition(rule.Condition!, `Choices[${index}]/Condition`),
    ...(isPath ? {} : own.template("output", "Output", `Choices[${index}]/Output`)),
    ...own.template("assign", "Assign", `Choices[${index}]/Assign`),
  };
}

function compileMap(state: JsonObject, fields: Fields, inherited: string, readsContext: boolean): MapSpec {
  const processor = (state.ItemProcessor ?? state.Iterator) as JsonObject;
  const config = (processor.ProcessorConfig as JsonObject | undefined) ?? {};
  const isPath = fields.language.name === "JSONPath";
  return {
    processor: compileStates(processor, inherited, readsContext),
    distributed: config.Mode === "DISTRIBUTED",
    executionType: (config.ExecutionType as ExecutionType | undefined) ?? "STANDARD",
    ...(isPath ? optional("items", pathField(state.ItemsPath)) : fields.template("items", "Items")),
    ...optional("itemsField", isPath ? undefined : state.Items),
    ...fields.template(
      "selector",
      state.ItemSelector === undefined && isPath ? "Parameters" : "ItemSelector",
    ),
    ...fields.setting("maxConcurrency", "MaxConcurrency"),
    ...fields.setting("toleratedCount", "ToleratedFailureCount"),
    ...fields.setting("toleratedPercentage", "ToleratedFailurePercentage"),
    ...compiled("reader", fields, "ItemReader", compileReader),
    ...compiled("batcher", fields, "ItemBatcher", compileBatcher),
    ...compiled("writer", fields, "ResultWriter", compileWriter),
    ...optional("label", state.Label as string | undefined),
  };
}

function compiled<K extends string, V>(
  key: K,
  fields: Fields,
  name: string,
  compile: (inner: Fields) => V,
): { [P in K]?: V } {
  const inner = fields.from[name];
  return inner === undefined ? {} : optional(key, compile(fields.within(inner as JsonObject)));
}

const argumentsField = (fields: Fields): string =>
  fields.language.name === "JSONPath" ? "Parameters" : "Arguments";

function compileReader(fields: Fields): ItemReader {
  const config = (fields.from.ReaderConfig as JsonObject | undefined) ?? {};
  const name = argumentsField(fields);
  return {
    resource: fields.from.Resource as string,
    parameters: fields.template("parameters", name, `ItemReader/${name}`).parameters ?? literal({}),
    inputType: (config.InputType as string | undefined) ?? "",
    config,
    ...fields.within(config).setting("maxItems", "MaxItems", "ItemReader/ReaderConfig/MaxItems"),
  };
}

function compileBatcher(fields: Fields): ItemBatcher {
  return {
    ...fields.setting("maxItems", "MaxItemsPerBatch", "ItemBatcher/MaxItemsPerBatch"),
    ...fields.setting("maxInputBytes", "MaxInputBytesPerBatch", "ItemBatcher/MaxInputBytesPerBatch"),
    ...fields.template("batchInput", "BatchInput", "ItemBatcher/BatchInput"),
  };
}

function compileWriter(fields: Fields): ResultWriter {
  const name = argumentsField(fields);
  return {
    ...fields.template("parameters", name, `ResultWriter/${name}`),
    config: (fields.from.WriterConfig as JsonObject | undefined) ?? {},
  };
}

/** The machine that an iteration or child of the named Map state runs; state names are unique in a whole definition. */
export function processorOf(machine: Machine, stateName: string): Machine | undefined {
  const own = machine.states.get(stateName)?.map?.processor;
  if (own) return own;
  for (const state of machine.states.values()) {
    const inner = state.map ? [state.map.processor] : state.branches;
    for (const each of inner) {
      const found = processorOf(each, stateName);
      if (found) return found;
    }
  }
  return undefined;
}
