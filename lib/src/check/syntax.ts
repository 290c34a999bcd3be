// Reads JavaScript as a tree: of a function that was declared, or of a file. Only its text is looked at; nothing runs.
import * as module from "node:module";
import { parse, type Node, type Program } from "acorn";

/** A node with its fields, as ESTree has them. */
export type Tree = Node & Readonly<Record<string, unknown>>;

/** A node, and those that it stands in, the nearest first. */
export interface Found {
  readonly node: Tree;
  readonly parents: readonly Tree[];
}

const isTree = (value: unknown): value is Tree =>
  typeof (value as { type?: unknown } | null)?.type === "string";

/** The node and all below it, in the order of the text. */
export function* walk(node: Tree, parents: readonly Tree[] = []): Generator<Found> {
  yield { node, parents };
  const inside = [node, ...parents];
  for (const child of Object.values(node).flat()) if (isTree(child)) yield* walk(child, inside);
}

function tryParse(text: string, sourceType: "module" | "script"): Program | undefined {
  try {
    return parse(text, {
      ecmaVersion: "latest",
      sourceType,
      locations: true,
      allowAwaitOutsideFunction: true,
    });
  } catch {
    return undefined;
  }
}

/** The text of a function without its types, where the running Node can take them out. */
const withoutTypes = (text: string): string => {
  const strip = (module as { stripTypeScriptTypes?: (text: string) => string }).stripTypeScriptTypes;
  try {
    return strip ? strip(text) : text;
  } catch {
    return text;
  }
};

export const functionTypes = new Set([
  "FunctionDeclaration",
  "FunctionExpression",
  "ArrowFunctionExpression",
]);

/** The tree of a function; undefined for what has no text (native, bound). */
export function functionTree(of: unknown): Tree | undefined {
  if (typeof of !== "function") return undefined;
  const text = of.toString();
  const program = tryParse(`(${text})`, "script") ?? tryParse(`({${text}})`, "script");
  if (!program) return undefined;
  for (const { node } of walk(program as unknown as Tree)) if (functionTypes.has(node.type)) return node;
  return undefined;
}

/** The tree of a source file; undefined where it is not JavaScript, or TypeScript that this Node cannot read. */
export function fileTree(path: string, text: string): Tree | undefined {
  const plain = /\.[cm]?ts$/.test(path) ? withoutTypes(text) : text;
  return tryParse(plain, "module") as unknown as Tree | undefined;
}

/** `tx.query` of `ctx.tx.query(…)` is "ctx.tx.query"; computed parts are left out. */
export function nameOf(node: Tree): string {
  if (node.type === "Identifier") return node.name as string;
  if (node.type === "ThisExpression") return "this";
  if (node.type === "ChainExpression") return nameOf(node.expression as Tree);
  if (node.type !== "MemberExpression" || node.computed) return "";
  return `${nameOf(node.object as Tree)}.${nameOf(node.property as Tree)}`;
}

/** The value of a literal; undefined of anything else. */
export const literalOf = (node: Tree | undefined): unknown => {
  if (node?.type === "Literal") return node.value;
  const plain = node?.type === "TemplateLiteral" && (node.expressions as Tree[]).length === 0;
  return plain
    ? ((node.quasis as Tree[])[0] as unknown as { value: { cooked: string } }).value.cooked
    : undefined;
};

/** What is written in a text literal, without what a template puts in. */
export const textOf = (node: Tree | undefined): string =>
  node?.type === "TemplateLiteral"
    ? (node.quasis as unknown as { value: { cooked: string } }[]).map(({ value }) => value.cooked).join(" ")
    : String(literalOf(node));

/** The named property of an object literal. */
export const propertyOf = (node: Tree | undefined, name: string): Tree | undefined =>
  node?.type === "ObjectExpression"
    ? ((node.properties as Tree[]).find((each) => each.type === "Property" && keyOf(each) === name)?.value as
        Tree | undefined)
    : undefined;

const keyOf = ({ key }: Tree): unknown => {
  const node = key as Tree;
  return node.type === "Identifier" ? node.name : literalOf(node);
};

/** Whether an object literal has the property, or spreads something that may have it. */
export const mayHave = (node: Tree, name: string): boolean =>
  node.type === "ObjectExpression" &&
  (node.properties as Tree[]).some((each) => each.type === "SpreadElement" || keyOf(each) === name);
