// How often a handler tries by itself, as far as its text says it with a number.
import { literalOf, nameOf, propertyOf, walk, type Tree } from "./syntax.ts";

const has = (tree: Tree, type: string): boolean => [...walk(tree)].some(({ node }) => node.type === type);

/** The number of rounds of `for (let i = 0; i < 5; i++)`; undefined where it is not a literal. */
function roundsOf({ init, test }: Tree): number | undefined {
  const { operator, right } = (test ?? {}) as { operator?: string; right?: Tree };
  const most = literalOf(right);
  const from = literalOf(
    ((init as Tree | null)?.declarations as Tree[] | undefined)?.[0]?.init as Tree | undefined,
  );
  if (typeof most !== "number" || typeof from !== "number") return undefined;
  if (operator === "<") return most - from;
  return operator === "<=" ? most - from + 1 : undefined;
}

/** A loop that catches what is awaited in it, and so goes round again. */
const isRetryLoop = ({ type, body }: Tree): boolean =>
  type === "ForStatement" &&
  [...walk(body as Tree)].some(
    ({ node }) =>
      node.type === "TryStatement" && node.handler !== null && has(node.block as Tree, "AwaitExpression"),
  );

/** The attempts of a loop of its own: `for (…; i < 5; …) try { await … } catch {}`. */
export function loopAttempts(tree: Tree): number {
  const rounds = [...walk(tree)].flatMap(({ node }) => (isRetryLoop(node) ? (roundsOf(node) ?? 1) : []));
  return Math.max(1, ...rounds);
}

/** How libraries name it: as tries after the first, or as attempts in all. */
const furtherTries = ["retries", "maxRetries", "retry"];
const allAttempts = ["attempts", "maxAttempts", "numOfAttempts"];

function attemptsIn(options: Tree): number[] {
  const numbers = (names: readonly string[], extra: number) =>
    names.flatMap((name) => {
      const value = literalOf(propertyOf(options, name));
      return typeof value === "number" ? [value + extra] : [];
    });
  return [...numbers(furtherTries, 1), ...numbers(allAttempts, 0)];
}

/** The attempts that an option of a call asks for: `retry(work, { retries: 4 })`. */
export function optionAttempts(tree: Tree): number {
  const options = [...walk(tree)].flatMap(({ node }) =>
    node.type === "CallExpression" && nameOf(node.callee as Tree) !== "" ? (node.arguments as Tree[]) : [],
  );
  return Math.max(1, ...options.flatMap(attemptsIn));
}
