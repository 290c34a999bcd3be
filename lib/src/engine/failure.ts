// Anything that was thrown, as a code and a message that a text column can hold.
import { storable } from "../core/text.ts";

export interface Failure {
  readonly code: string;
  readonly message: string;
}

export function describeFailure(cause: unknown): Failure {
  const { code, name, message } = (cause ?? {}) as { code?: unknown; name?: unknown; message?: unknown };
  return {
    code: storable(String(typeof code === "string" ? code : (name ?? "THROWN")), 100),
    message: storable(String(message ?? cause), 2000),
  };
}
