// How data flows through a state: what goes in (InputPath, Parameters or Arguments), what comes out (ResultSelector,
// ResultPath, OutputPath or Output), what is assigned, and where the branch goes from there.
import type { Json } from "./contract.ts";
import type { StateSpec } from "./parse.ts";
import { type Asking, type Query, valueOf } from "./query/query.ts";
import { type DraftBranch, emit, fittingText, type Run, scopeOf, type ScopeExtras } from "./run.ts";

/** The input after InputPath; in JSONata the raw input. */
export function effectiveInput(run: Run, branch: DraftBranch, spec: StateSpec): Json {
  const input = spec.inputPath ? spec.inputPath.now!(scopeOf(run, branch, branch.input)) : branch.input;
  if (spec.language === "JSONPath") run.inspect?.("afterInputPath", input);
  return input;
}

/** What a JSONPath state works on, at once. */
export function parametersOf(run: Run, branch: DraftBranch, spec: StateSpec): Json {
  const input = effectiveInput(run, branch, spec);
  const value = spec.parameters ? spec.parameters.now!(scopeOf(run, branch, input)) : input;
  run.inspect?.("afterParameters", value);
  return value;
}

/** What a state works on: Parameters or Arguments where there are any. */
export function* argumentsOf(
  run: Run,
  branch: DraftBranch,
  spec: StateSpec,
  extras: ScopeExtras = {},
): Asking<Json> {
  const input = effectiveInput(run, branch, spec);
  const value = spec.parameters
    ? yield* valueOf(spec.parameters, scopeOf(run, branch, input, extras))
    : input;
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
export function leaveWithResult(run: Run, branch: DraftBranch, spec: StateSpec, result: Json): Work {
  if (spec.language === "JSONata") return leaveAsking(run, branch, spec, { result, next: spec.next });
  const selected = spec.resultSelector ? spec.resultSelector.now!(scopeOf(run, branch, result)) : result;
  const assigned = spec.assign?.now!(scopeOf(run, branch, selected));
  run.inspect?.("afterResultSelector", selected);
  const combined = spec.resultPath(branch.input, selected);
  run.inspect?.("afterResultPath", combined);
  leave(run, branch, spec, { output: outputOf(run, branch, spec, combined), next: spec.next, assigned });
}

/** OutputPath over what a JSONPath state has come to. */
export const outputOf = (run: Run, branch: DraftBranch, spec: StateSpec, value: Json): Json =>
  spec.outputPath ? spec.outputPath.now!(scopeOf(run, branch, value)) : value;

/** Finishes a state that has no result of its own: Wait, Succeed, a Choice's default. */
export function leaveUnchanged(
  run: Run,
  branch: DraftBranch,
  spec: StateSpec,
  next: string | undefined,
): Work {
  if (spec.language === "JSONata") return leaveAsking(run, branch, spec, { next });
  const input = effectiveInput(run, branch, spec);
  const assigned = spec.assign?.now!(scopeOf(run, branch, input));
  leave(run, branch, spec, { output: outputOf(run, branch, spec, input), next, assigned });
}

interface Answered {
  readonly result?: Json;
  readonly next: string | undefined;
}

function* leaveAsking(
  run: Run,
  branch: DraftBranch,
  spec: StateSpec,
  { next, ...extras }: Answered,
): Asking<void> {
  const scope = scopeOf(run, branch, branch.input, extras);
  const assigned = spec.assign ? yield* valueOf(spec.assign, scope) : undefined;
  const output = spec.output ? yield* valueOf(spec.output, scope) : (extras.result ?? branch.input);
  leave(run, branch, spec, { output, next, assigned });
}

/** Evaluates an optional query. */
export function* maybe(
  query: Query | undefined,
  run: Run,
  branch: DraftBranch,
  input: Json,
  extras: ScopeExtras = {},
): Asking<Json | undefined> {
  return query && (yield* valueOf(query, scopeOf(run, branch, input, extras)));
}

/** Leaves the state: the exit event, the variables, and the next state or the branch's end. */
export function leave(
  run: Run,
  branch: DraftBranch,
  spec: StateSpec,
  { output, next, assigned }: Leaving,
): void {
  const text = fittingText(run, output, spec.name);
  const variables = assigned as Readonly<Record<string, Json>> | undefined;
  const details = { name: spec.name, output: text };
  const shown = variables && Object.keys(variables).length > 0;
  emit(run, branch, spec.exitedEvent, shown ? { ...details, assignedVariables: texts(variables) } : details);
  if (variables) branch.variables = { ...branch.variables, ...variables };
  branch.input = output;
  if (branch.wait) delete branch.wait;
  if (branch.retries) delete branch.retries;
  branch.state = next ?? "";
  run.ready.push(branch);
}

const texts = (values: Readonly<Record<string, Json>>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, JSON.stringify(value)]));
