// What an operation takes and answers, as data: both wire protocols read and write by these shapes, and TypeScript
// derives its types from them; where the model says more of a value than its type, so do they (`rule.ts`). Names of list and map elements are those of the Query protocol, which flattens them.

import type { Rule, Term } from "./rule.ts";
import { termsOf } from "./rule.ts";

interface Ruled<Kind extends string> {
  readonly kind: Kind;
  readonly rule: Rule;
  readonly terms: readonly Term[];
}

export type Shape =
  | Ruled<"string">
  | Ruled<"integer">
  | Ruled<"float">
  | { readonly kind: "boolean" }
  /** Bytes, kept as the base64 text that both protocols carry. */
  | { readonly kind: "blob" }
  | ListShape
  | MapShape
  | Structure;

export interface ListShape<Of extends Shape = Shape> extends Ruled<"list"> {
  readonly element: string;
  readonly of: Of;
}

export interface MapShape<Of extends Shape = Shape> {
  readonly kind: "map";
  readonly element: string;
  readonly key: string;
  readonly value: string;
  readonly of: Of;
}

export type Members = Readonly<Record<string, Shape>>;

export interface Structure<M extends Members = Members, Required extends string = string> {
  readonly kind: "structure";
  readonly members: M;
  readonly required: readonly Required[];
}

export const text = (rule: Rule) => ({ kind: "string", rule, terms: termsOf(rule, "length") }) as const;
export const whole = (rule: Rule) => ({ kind: "integer", rule, terms: termsOf(rule, "value") }) as const;
export const decimal = (rule: Rule) => ({ kind: "float", rule, terms: termsOf(rule, "value") }) as const;
export const string = text({});
export const integer = whole({});
export const float = decimal({});
export const boolean = { kind: "boolean" } as const;
export const blob = { kind: "blob" } as const;

export const list = <const Of extends Shape>(element: string, of: Of, rule: Rule = {}): ListShape<Of> => ({
  kind: "list",
  rule,
  terms: termsOf(rule, "length"),
  element,
  of,
});

/** The service refuses an input without the members that are required; SQS refuses each in words of its own. */
export const structure = <const M extends Members, const Required extends keyof M & string = never>(
  members: M,
  required: readonly Required[] = [],
): Structure<M, Required> => ({ kind: "structure", members, required });

/** A map whose entries travel as `element.N.key` and `element.N.value` in the Query protocol. */
export const map = <const Of extends Shape>(
  [element, key, value]: readonly [string, string, string],
  of: Of,
): MapShape<Of> => ({ kind: "map", element, key, value, of });

/** Whether the text is base64 as both protocols carry it, padded. */
export const isBase64 = (text: string): boolean =>
  text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);

/** The TypeScript type of a shape's values. */
export type ValueOf<S> = S extends { kind: "string" | "blob" }
  ? string
  : S extends { kind: "integer" | "float" }
    ? number
    : S extends { kind: "boolean" }
      ? boolean
      : S extends ListShape<infer Of>
        ? readonly ValueOf<Of>[]
        : S extends MapShape<infer Of>
          ? Readonly<Record<string, ValueOf<Of>>>
          : S extends Structure<infer M, infer Required>
            ? { readonly [Name in Required & keyof M]: ValueOf<M[Name]> } & {
                readonly [Name in Exclude<keyof M, Required>]?: ValueOf<M[Name]> | undefined;
              }
            : never;
