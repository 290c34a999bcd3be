// How data flows through a state: what goes in (InputPath, Parameters or Arguments), what comes out (ResultSelector,
// ResultPath, OutputPath or Output), what is assigned, and where the branch goes from there.
import type { Json } from "./contract.ts";
import { type Asking, type Query, type Scope, valueOf } from "./query/query.ts";
import { emit, fittingText, type ScopeExtras, scopeOf, type Visit } from "./run.ts";

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
  const variables = assigned as Readonly<Record<string, Json>> | undefined;
  const details = { name: spec.name, output: text };
  const shown = variables && Object.keys(variables).length > 0;
  emit(visit, spec.exitedEvent, shown ? { ...details, assignedVariables: texts(variables) } : details);
  if (variables) branch.variables = { ...branch.variables, ...variables };
  branch.input = output;
  branch.wait = undefined;
  branch.retries = undefined;
  branch.mapRun = undefined;
  branch.state = next ?? "";
  run.ready.push(branch);
}

const texts = (values: Readonly<Record<string, Json>>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, JSON.stringify(value)]));
