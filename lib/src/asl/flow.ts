// How data flows through a state: what goes in (InputPath, Parameters or Arguments), what comes out (ResultSelector,
// ResultPath, OutputPath or Output), what is assigned, and where the branch goes from there.
import type { Json } from "./contract.ts";
import { StateFailure } from "./failure.ts";
import { limits, utf8Bytes } from "./limits.ts";
import { type Asking, type Query, type Scope, valueOf } from "./query/query.ts";
import { emit, fittingText, type Run, type ScopeExtras, scopeOf, type Visit } from "./run.ts";

type Variables = Readonly<Record<string, Json>>;

/** The input after InputPath; in JSONata the raw input. */
export function effectiveInput(visit: Visit): Json {
  const { run, branch, spec } = visit;
  const input = spec.inputPath ? spec.inputPath.now!(scopeOf(visit, branch.input)) : branch.input;
  if (spec.language === "JSONPath") run.inspect?.("afterInputPath", input);
  return input;
}

/** What a JSONPath state works on, at once. */
export function parametersOf(visit: Visit, extras?: ScopeExtras): Json {
  const { run, spec } = visit;
  const input = effectiveInput(visit);
  const value = spec.parameters ? spec.parameters.now!(scopeOf(visit, input, extras)) : input;
  run.inspect?.("afterParameters", value);
  return value;
}

/** What a state works on: Parameters or Arguments where there are any. */
export function* argumentsOf(visit: Visit, extras: ScopeExtras = {}): Asking<Json> {
  const { run, spec } = visit;
  const input = effectiveInput(visit);
  const value = spec.parameters ? yield* valueOf(spec.parameters, scopeOf(visit, input, extras)) : input;
  run.inspect?.(spec.language === "JSONPath" ? "afterParameters" : "afterArguments", value);
  return value;
}

/** Everything that leaves a state. */
interface Leaving {
  readonly output: Json;
  readonly next: string | undefined;
  readonly assigned?: Json | undefined;
}

/** What is left to ask for; nothing where a state was done with at once, as all are that are in JSONPath. */
export type Work = Asking<void> | undefined | void;

export function* asking(work: Work): Asking<void> {
  if (work) yield* work;
}

/** Finishes a state that has a result: Task, Pass, Parallel, Map. */
export function leaveWithResult(visit: Visit, result: Json): Work {
  const { run, branch, spec } = visit;
  if (spec.language === "JSONata") return leaveAsking(visit, { result, next: spec.next });
  const selected = spec.resultSelector ? spec.resultSelector.now!(scopeOf(visit, result)) : result;
  const assigned = spec.assign?.now!(scopeOf(visit, selected));
  run.inspect?.("afterResultSelector", selected);
  const combined = spec.resultPath(branch.input, selected);
  run.inspect?.("afterResultPath", combined);
  leave(visit, { output: outputOf(visit, combined), next: spec.next, assigned });
}

/** OutputPath over what a JSONPath state has come to. */
export const outputOf = (visit: Visit, value: Json): Json => {
  const { spec } = visit;
  return spec.outputPath ? spec.outputPath.now!(scopeOf(visit, value)) : value;
};

/** Finishes a state that has no result of its own: Wait, Succeed, a Choice's default. */
export function leaveUnchanged(visit: Visit, next: string | undefined): Work {
  const { spec } = visit;
  if (spec.language === "JSONata") return leaveAsking(visit, { next });
  const input = effectiveInput(visit);
  const assigned = spec.assign?.now!(scopeOf(visit, input));
  leave(visit, { output: outputOf(visit, input), next, assigned });
}

interface Answered {
  readonly result?: Json;
  readonly next: string | undefined;
}

function* leaveAsking(visit: Visit, { next, ...extras }: Answered): Asking<void> {
  const { branch, spec } = visit;
  const scope = scopeOf(visit, branch.input, extras);
  const assigned = spec.assign ? yield* valueOf(spec.assign, scope) : undefined;
  const output = spec.output ? yield* valueOf(spec.output, scope) : (extras.result ?? branch.input);
  leave(visit, { output, next, assigned });
}

/** Evaluates an optional query. */
export function* maybe(query: Query | undefined, scope: Scope): Asking<Json | undefined> {
  return query && (yield* valueOf(query, scope));
}

/** Leaves the state: the exit event, the variables, and the next state or the branch's end. */
export function leave(visit: Visit, { output, next, assigned }: Leaving): void {
  const { run, branch, spec } = visit;
  const text = fittingText(run, output, spec.name);
  const details = { name: spec.name, output: text };
  const assignedVariables = assigned && assign(visit, assigned as Variables);
  emit(visit, spec.exitedEvent, assignedVariables ? { ...details, assignedVariables } : details);
  branch.input = output;
  branch.wait = undefined;
  branch.retries = undefined;
  branch.mapRun = undefined;
  branch.state = next ?? "";
  run.ready.push(branch);
}

/** Keeps what the state assigns, and shows it as the history does; nothing where it is nothing. */
function assign({ run, branch, spec }: Visit, variables: Variables): Record<string, string> | undefined {
  const names = Object.keys(variables);
  if (names.length === 0) return undefined;
  const shown = Object.fromEntries(names.map((name) => [name, JSON.stringify(variables[name])]));
  const bytes = Object.entries(shown).reduce((sum, [name, text]) => sum + name.length + utf8Bytes(text), 0);
  if (bytes > limits.assignBytes)
    throw variablesLimit(`The variables that the state '${spec.name}' assigns have`, limits.assignBytes);
  const all = { ...branch.variables, ...variables };
  const bytesMax = (run.state.variableBytesMax ?? 0) + bytes;
  run.state.variableBytesMax = bytesMax <= limits.variablesBytes ? bytesMax : measured(run, branch, all);
  branch.variables = all;
  return shown;
}

/** What all scopes hold once this one holds `all`; counted only where what was assigned could be too much. */
function measured({ state }: Run, branch: Visit["branch"], all: Variables): number {
  const bytes = state.branches.reduce((sum, each) => {
    const variables = each === branch ? all : each.variables;
    return sum + (variables ? utf8Bytes(JSON.stringify(variables)) : 0);
  }, 0);
  if (bytes <= limits.variablesBytes) return bytes;
  throw variablesLimit("The variables of the execution have", limits.variablesBytes);
}

const variablesLimit = (whose: string, bytesMax: number): StateFailure =>
  new StateFailure({
    error: "States.DataLimitExceeded",
    cause: `${whose} a size exceeding the maximum of ${bytesMax} bytes.`,
  });
