// How deep an expression may nest and how large a value it may make on its way. What exceeds a bound is told in AWS's words,
// which have no code before them.

/** Steps within each other, as they are written; how deep a function may call itself shows in time and memory. */
const nestingMax = 100;

const itemsMax = 873_782;
const charactersMax = 6_990_256;

export const memoryExceeded = (): Error =>
  new Error("Expression evaluation memory limit exceeded: Check for excessive memory usage");

export const timeExceeded = (): Error => new Error("Expression evaluation timeout: Check for infinite loop");

export const nestingExceeded = (): Error =>
  new Error(
    "Stack overflow error: Check for non-terminating recursive function. Consider rewriting as tail-recursive",
  );

/** Whether an expression nests deeper than it may. JSONata's own count takes the items of a list for calls within each other. */
export const isTooNested = (ast: unknown): boolean => nestingOf(ast) > nestingMax;

function nestingOf(node: unknown): number {
  if (typeof node !== "object" || node === null || node instanceof RegExp) return 0;
  const inner = Object.values(node).reduce<number>((most, each) => Math.max(most, nestingOf(each)), 0);
  return inner + (Array.isArray(node) || (node as { type?: string }).type === undefined ? 0 : 1);
}

/** JSONata calls what has this name after each step. */
const afterStep = Symbol.for("jsonata.__evaluate_exit");

/** Has every value that is made on the way measured. */
export const measureEach = (expression: { assign(name: string, value: unknown): void }): void =>
  expression.assign(afterStep as unknown as string, measure);

function measure(_node: unknown, _input: unknown, _environment: unknown, made: unknown): void {
  const isTooMuch = Array.isArray(made) ? made.length > itemsMax : isLong(made);
  if (isTooMuch) throw memoryExceeded();
}

const isLong = (made: unknown): boolean => typeof made === "string" && made.length > charactersMax;
