// `variableReferences` of DescribeStateMachine: which variables each state of a JSONPath machine reads.
type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

const isObject = (value: Json | undefined): value is { readonly [key: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** `$name` at the start of a path, or as an argument of an intrinsic function; `$.` and `$$.` are no variables. */
const reference = /\$([A-Za-z_]\w*)/g;

function collect(value: Json, found: Set<string>, isPath: boolean): void {
  if (typeof value === "string") {
    if (isPath) for (const [, name] of value.matchAll(reference)) found.add(name!);
  } else if (Array.isArray(value)) {
    for (const each of value as readonly Json[]) collect(each, found, isPath);
  } else if (isObject(value)) {
    for (const [key, each] of Object.entries(value)) {
      if (["ItemProcessor", "Iterator", "Branches"].includes(key)) continue;
      collect(each, found, key.endsWith(".$") || key.endsWith("Path") || key === "Variable");
    }
  }
}

function visit(states: Json | undefined, references: Record<string, string[]>): void {
  if (!isObject(states)) return;
  for (const [name, state] of Object.entries(states)) {
    if (!isObject(state)) continue;
    const found = new Set<string>();
    collect(state, found, false);
    if (found.size > 0) references[name] = [...found].toSorted();
    for (const inner of [state.ItemProcessor, state.Iterator, ...((state.Branches as readonly Json[]) ?? [])])
      if (isObject(inner)) visit(inner.States, references);
  }
}

export function variableReferences(definition: string): { variableReferences?: Record<string, string[]> } {
  const references: Record<string, string[]> = {};
  visit((JSON.parse(definition) as { States?: Json }).States, references);
  return Object.keys(references).length > 0 ? { variableReferences: references } : {};
}
