// Where something was declared, so that what is said about it leads there.
import { TuntasError } from "./error.ts";

/**
 * A function that declares something. What is wrong with a declaration stands at the line that makes it: Node shows where an error comes
 * from before it says what it is, and a line of the library would help nobody.
 */
export function declaring<F extends (...given: never[]) => unknown>(declare: F): F {
  const declared = (...given: never[]): unknown => {
    try {
      return declare(...given);
    } catch (cause) {
      if (cause instanceof TuntasError) Error.captureStackTrace(cause, declared);
      throw cause;
    }
  };
  return declared as F;
}

/** The file and line of whoever called the declaring function that calls this; undefined where the stack does not say. */
export function placeOfCaller(): string | undefined {
  // Behind this function, the one that declares, and `declared` above.
  const line = new Error().stack?.split("\n")[4];
  const [, at] = /\(?((?:file:\/\/)?\/[^()]*:\d+):\d+\)?$/.exec(line ?? "") ?? [];
  return at?.startsWith("file:") ? decodeURIComponent(new URL(at).pathname) : at;
}
