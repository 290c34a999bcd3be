// Expressions of the builder: what stands in TypeScript for a value that is only there when an execution runs. A Ref notes
// the way that is taken to it, and is written into the document as JSONata.
import { workflowErrors } from "../contract.ts";

declare const type: unique symbol;
const source = Symbol("expression");

/** Anything that stands for a T. */
export interface Expression<out T> {
  readonly [type]: T;
}

/** A tuple's items by index, an object's fields by name; `item` takes one out of a list. */
type Fields<T> = T extends readonly unknown[]
  ? number extends T["length"]
    ? object
    : { readonly [Index in keyof T]: Ref<T[Index]> }
  : T extends object
    ? { readonly [Key in keyof T]-?: Ref<T[Key]> }
    : object;

/** Stands for a T that an execution will have; its fields are Refs too. */
export type Ref<T> = Expression<T> & Fields<T>;

/** What gives a T once the execution is there: a Ref of it, or the value itself with Refs anywhere in it. */
export type Template<T> =
  | Expression<T>
  | (T extends readonly (infer Item)[]
      ? readonly Template<Item>[]
      : T extends object
        ? { readonly [Key in keyof T]: Template<Exclude<T[Key], undefined>> }
        : T);

/** Anything that can be written into a document. */
export type Expressible =
  | Expression<object | string | number | boolean | null>
  | string
  | number
  | boolean
  | null
  | readonly Expressible[]
  | { readonly [key: string]: Expressible };

/** What a template gives. */
export type Resolved<X> =
  X extends Expression<infer T>
    ? T
    : X extends readonly unknown[]
      ? { readonly [Index in keyof X]: Resolved<X[Index]> }
      : X extends object
        ? { readonly [Key in keyof X]: Resolved<X[Key]> }
        : X;

/** A type that the compiler cannot know: of an answer that comes from elsewhere. There is no value. */
export interface Shape<out T> {
  readonly of?: T;
}

/** Says what an answer from elsewhere looks like: `returns: shape<{ MessageId: string }>()`. Nothing checks it. */
export const shape = <T>(): Shape<T> => ({});

// Words that JSONata reads as something else than a field's name.
const reserved = new Set(["and", "or", "in", "true", "false", "null", "function"]);
const isName = /^[A-Za-z_][A-Za-z0-9_]*$/;

function step(from: string, key: string): string {
  if (/^\d+$/.test(key)) return `${from}[${key}]`;
  return isName.test(key) && !reserved.has(key)
    ? `${from}.${key}`
    : `$lookup(${from}, ${JSON.stringify(key)})`;
}

/** Refuses to become text: `${$.input.id}` in a plain string would be the Ref's own description. */
const refuse = (expression: string) => () => {
  throw workflowErrors.error(
    "TUNTAS_WORKFLOW_DEFINITION",
    `expected jsonata\`…\` or a template around ${expression}, which has no value before an execution runs`,
  );
};

/** The Ref of a JSONata expression. */
export function refOf<T>(expression: string): Ref<T> {
  const get = (_target: object, key: string | symbol): unknown => {
    if (key === source) return expression;
    if (key === Symbol.toPrimitive) return refuse(expression);
    return typeof key === "symbol" ? undefined : refOf(step(expression, key));
  };
  return new Proxy({}, { get }) as Ref<T>;
}

const sourceOf = (value: unknown): string | undefined =>
  typeof value === "object" && value !== null ? (value as { readonly [source]?: string })[source] : undefined;

/** The template as one JSONata expression. */
export function expressionOf(template: unknown): string {
  const expression = sourceOf(template);
  if (expression !== undefined) return expression;
  if (Array.isArray(template)) return `[${template.map(expressionOf).join(", ")}]`;
  if (typeof template !== "object" || template === null) return JSON.stringify(template);
  const fields = Object.entries(template).map(
    ([key, value]) => `${JSON.stringify(key)}: ${expressionOf(value)}`,
  );
  return `{${fields.join(", ")}}`;
}

/** The template as it stands in a document. */
export function written(template: unknown): any {
  const expression = sourceOf(template);
  if (expression !== undefined) return `{% ${expression} %}`;
  if (Array.isArray(template)) return template.map(written);
  if (typeof template === "string")
    return template.startsWith("{%") ? `{% ${JSON.stringify(template)} %}` : template;
  if (typeof template !== "object" || template === null) return template;
  return Object.fromEntries(Object.entries(template).map(([key, value]) => [key, written(value)]));
}

/** JSONata where the functions below do not reach: jsonata<string>`$uppercase(${$.input.name})`. */
export function jsonata<T>(texts: TemplateStringsArray, ...values: readonly Expressible[]): Ref<T> {
  const parts = texts.raw.map((text, index) => (index === 0 ? text : expressionOf(values[index - 1]) + text));
  return refOf(parts.join(""));
}

type Condition = Expression<boolean>;
type Ordered = string | number;

const binary =
  (operator: string) =>
  (left: unknown, right: unknown): Ref<boolean> =>
    refOf(`(${expressionOf(left)} ${operator} ${expressionOf(right)})`);
const joined =
  (operator: string) =>
  (...conditions: readonly Condition[]): Ref<boolean> =>
    refOf(`(${conditions.map(expressionOf).join(` ${operator} `)})`);

type Equality = <T>(left: Expression<T>, right: NoInfer<Template<T>>) => Ref<boolean>;
type Order = <T extends Ordered>(left: Expression<T>, right: NoInfer<Template<T>>) => Ref<boolean>;

export const eq: Equality = binary("=");
export const ne: Equality = binary("!=");
export const lt: Order = binary("<");
export const lte: Order = binary("<=");
export const gt: Order = binary(">");
export const gte: Order = binary(">=");
export const and = joined("and");
export const or = joined("or");
export const not = (condition: Condition): Ref<boolean> => refOf(`$not(${expressionOf(condition)})`);
export const exists = (value: Expression<unknown>): Ref<boolean> => refOf(`$exists(${expressionOf(value)})`);

/** One of a list; absent where the list is shorter. */
export const item = <T>(list: Expression<readonly T[]>, index: number): Ref<T | undefined> =>
  refOf(`${expressionOf(list)}[${index}]`);

/** The value, or the other one where there is none: an absent value would fail the state. */
export function orElse<T>(
  value: Expression<T>,
  otherwise: NoInfer<Template<Exclude<T, undefined>>>,
): Ref<Exclude<T, undefined>> {
  const expression = expressionOf(value);
  return refOf(`($exists(${expression}) ? ${expression} : ${expressionOf(otherwise)})`);
}
