// Anything that was thrown, as a code and a message that a text column can hold.

export interface Failure {
  readonly code: string;
  readonly message: string;
}

const storable = (value: unknown, length: number): string =>
  String(value).slice(0, length).toWellFormed().replaceAll("\0", "\uFFFD");

export function describeFailure(cause: unknown): Failure {
  const { code, name, message } = (cause ?? {}) as { code?: unknown; name?: unknown; message?: unknown };
  return {
    code: storable(typeof code === "string" ? code : (name ?? "THROWN"), 100),
    message: storable(message ?? cause, 2000),
  };
}
