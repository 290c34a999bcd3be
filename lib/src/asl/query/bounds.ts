// How deep an expression may nest and how large a value it may make on its way. What exceeds a bound is told in AWS's words,
// which have no code before them.

/** Calls within each other. */
export const nestingMax = 100;

const itemsMax = 873_782;
const charactersMax = 6_990_256;

export const memoryExceeded = (): Error =>
  new Error("Expression evaluation memory limit exceeded: Check for excessive memory usage");

export const timeExceeded = (): Error => new Error("Expression evaluation timeout: Check for infinite loop");

const nestingExceeded = (): Error =>
  new Error(
    "Stack overflow error: Check for non-terminating recursive function. Consider rewriting as tail-recursive",
  );

/** The error that JSONata throws, or what AWS says instead. */
export const bounded = (thrown: unknown): unknown =>
  (thrown as { readonly code?: string }).code === "D1011" ? nestingExceeded() : thrown;

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
