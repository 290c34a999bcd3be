// How data flows through a state: what goes in (InputPath, Parameters or Arguments), what comes out (ResultSelector,
// ResultPath, OutputPath or Output), what is assigned, and where the branch goes from there.
import type { Json } from "./contract.ts";
import type { StateSpec } from "./parse.ts";
import { type Asking, type Query, valueOf } from "./query/query.ts";
import { type DraftBranch, emit, fittingText, type Run, scopeOf, type ScopeExtras, textOf } from "./run.ts";

/** The input after InputPath; in JSONata the raw input. */
export function effectiveInput(run: Run, branch: DraftBranch, spec: StateSpec): Json {
  const input = spec.inputPath ? spec.inputPath.now!(scopeOf(run, branch, branch.input)) : branch.input;
  if (spec.language === "JSONPath") run.inspect?.("afterInputPath", input);
  return input;
}

/** What a state works on: Parameters or Arguments where there are any. */
export function* argumentsOf(run: Run, branch: DraftBranch, spec: StateSpec, extras: ScopeExtras = {}): Asking<Json> {
  const input = effectiveInput(run, branch, spec);
  const value = spec.parameters ? yield* valueOf(spec.parameters, scopeOf(run, branch, input, extras)) : input;
  run.inspect?.(spec.language === "JSONPath" ? "afterParameters" : "afterArguments", value);
  return value;
}

/** Everything that leaves a state. */
export interface Leaving {
  readonly output: Json;
  readonly next: string | undefined;
  readonly assigned?: Json | undefined;
}

/** Finishes a state that has a result: Task, Pass, Parallel, Map. */
export function* leaveWithResult(run: Run, branch: DraftBranch, spec: StateSpec, result: Json): Asking<void> {
  const leaving = spec.language === "JSONata" ? yield* shapeJsonata(run, branch, spec, { result }) : yield* shapePaths(run, branch, spec, result);
  leave(run, branch, spec, leaving);
}

function* shapePaths(run: Run, branch: DraftBranch, spec: StateSpec, result: Json): Asking<Leaving> {
  const selected = spec.resultSelector ? spec.resultSelector.now!(scopeOf(run, branch, result)) : result;
  const assigned = spec.assign?.now!(scopeOf(run, branch, selected));
  run.inspect?.("afterResultSelector", selected);
  const combined = spec.resultPath(branch.input, selected);
  run.inspect?.("afterResultPath", combined);
  return { output: outputOf(run, branch, spec, combined), next: spec.next, assigned };
}

/** OutputPath over what a JSONPath state has come to. */
export const outputOf = (run: Run, branch: DraftBranch, spec: StateSpec, value: Json): Json =>
  spec.outputPath ? spec.outputPath.now!(scopeOf(run, branch, value)) : value;

function* shapeJsonata(run: Run, branch: DraftBranch, spec: StateSpec, extras: { readonly result?: Json }): Asking<Leaving> {
  const scope = scopeOf(run, branch, branch.input, extras);
  const assigned = spec.assign ? yield* valueOf(spec.assign, scope) : undefined;
  const output = spec.output ? yield* valueOf(spec.output, scope) : (extras.result ?? branch.input);
  return { output, next: spec.next, assigned };
}

/** Finishes a state that has no result of its own: Wait, Succeed, a Choice's default. */
export function* leaveUnchanged(run: Run, branch: DraftBranch, spec: StateSpec, next: string | undefined): Asking<void> {
  if (spec.language === "JSONata") return leave(run, branch, spec, { ...(yield* shapeJsonata(run, branch, spec, {})), next });
  const input = effectiveInput(run, branch, spec);
  const assigned = spec.assign?.now!(scopeOf(run, branch, input));
  leave(run, branch, spec, { output: outputOf(run, branch, spec, input), next, assigned });
}

/** Evaluates an optional query. */
export function* maybe(query: Query | undefined, run: Run, branch: DraftBranch, input: Json, extras: ScopeExtras = {}): Asking<Json | undefined> {
  return query && (yield* valueOf(query, scopeOf(run, branch, input, extras)));
}

/** Leaves the state: the exit event, the variables, and the next state or the branch's end. */
export function leave(run: Run, branch: DraftBranch, spec: StateSpec, { output, next, assigned }: Leaving): void {
  const text = fittingText(run, output, spec.name);
  const variables = assigned as Readonly<Record<string, Json>> | undefined;
  emit(run, branch, `${spec.type}StateExited`, {
    name: spec.name,
    output: text,
    ...(variables && Object.keys(variables).length > 0 ? { assignedVariables: texts(variables) } : {}),
  });
  textOf(run, output);
  if (variables) branch.variables = { ...branch.variables, ...variables };
  branch.input = output;
  delete branch.wait;
  delete branch.retries;
  branch.state = next ?? "";
  run.ready.push(branch);
}

const texts = (values: Readonly<Record<string, Json>>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, JSON.stringify(value)]));
