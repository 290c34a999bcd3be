// What both query languages offer: a field of the definition, compiled once, that yields its value from a scope. Most
// values are had at once; only a JSONata expression may have to be asked for, by yielding an Ask to the driver, so that
// a machine in JSONPath never meets a promise.
import type { Evaluation, Json, JsonObject } from "../contract.ts";
import type { Random } from "../random.ts";

/** What an expression can see. */
export interface Scope {
  readonly input: Json;
  readonly result?: Json | undefined;
  readonly errorOutput?: Json | undefined;
  readonly nowMs: number;
  readonly random: Random;
  context(): JsonObject;
  variable(name: string): Json | undefined;
  variables(): Readonly<Record<string, Json>>;
}

/** A question to whoever evaluates expressions; it is answered with the value, or with a thrown error. */
export type Ask = Evaluation;
/** Work that may have to ask. */
export type Asking<T> = Generator<Ask, T, unknown>;

/** A value of the definition: `now` where it needs nobody, else `later`. */
export interface Query {
  readonly now?: (scope: Scope) => Json;
  readonly later?: (scope: Scope) => Asking<Json>;
  /** The value itself where it is a literal. */
  readonly literal?: { readonly value: Json };
}

export function* valueOf(query: Query, scope: Scope): Asking<Json> {
  return query.now ? query.now(scope) : yield* query.later!(scope);
}

export const literal = (value: Json): Query => ({ now: () => value, literal: { value } });

/** How one query language reads the fields of a state. */
export interface QueryLanguage {
  readonly name: "JSONPath" | "JSONata";
  /** A template (Parameters, Arguments, Output, Assign …); `location` is the field's name, for messages. */
  template(value: Json, location: string): Query;
}
