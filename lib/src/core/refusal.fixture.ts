import { isTuntasError } from "./error.ts";

/** The code and the message with which it is refused; throws where it is not. */
export function refusal(make: () => unknown): string {
  try {
    make();
  } catch (error) {
    if (isTuntasError(error)) return `${error.code} ${error.message}`;
    throw error;
  }
  throw new Error("expected it to be refused");
}
