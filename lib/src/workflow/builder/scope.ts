// What the builder's functions are given, and how what they make is written into the document.
import { refOf, written } from "./expression.ts";

export type Making = (scope: object) => unknown;

const vars = new Proxy({}, { get: (_target, name) => refOf(`$${String(name)}`) });
export const scope = { input: refOf("$states.input"), vars, context: refOf("$states.context") };
export const resultScope = { ...scope, result: refOf("$states.result") };
export const caughtScope = { ...scope, error: refOf("$states.errorOutput") };
export const itemScope = {
  ...scope,
  item: refOf("$states.context.Map.Item.Value"),
  index: refOf("$states.context.Map.Item.Index"),
};

/** What a function makes, or what was given instead of one, as it stands in the document. */
export const made = (make: unknown, within: object = scope): unknown =>
  written(typeof make === "function" ? (make as Making)(within) : make);
