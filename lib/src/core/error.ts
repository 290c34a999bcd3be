// Every error that Tuntas raises has a stable code, says what was expected and what came, and tells what to do.
// Each room lists its codes in a catalogue inside its contract; docs/reference/errors.md is generated from those
// lists, so a code that is not documented cannot exist.

/** What one error code means, whether trying again may help, and what a person should do. */
export interface ErrorEntry {
  readonly meaning: string;
  readonly remedy: string;
  readonly retryable?: boolean;
}

/** Facts that belong to one occurrence of an error; they are logged and shown, so never put a secret in them. */
export type ErrorDetails = Readonly<Record<string, unknown>>;

export interface ErrorOptions {
  readonly cause?: unknown;
  readonly details?: ErrorDetails;
}

/** The one error class: told apart by `code`, never by class or by text. */
export class TuntasError extends Error {
  override readonly name = "TuntasError";
  readonly code: string;
  readonly remedy: string;
  readonly retryable: boolean;
  readonly details: ErrorDetails;

  constructor(code: string, message: string, entry: ErrorEntry, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.remedy = entry.remedy;
    this.retryable = entry.retryable ?? false;
    this.details = options.details ?? {};
  }
}

/** The codes of one room, and the only way to make errors that carry them. */
export interface Catalogue<Code extends string> {
  readonly entries: Readonly<Record<Code, ErrorEntry>>;
  /** Makes the error; the caller throws it, so that control flow stays visible. */
  error(code: Code, message: string, options?: ErrorOptions): TuntasError;
}

export function catalogue<Code extends string>(entries: Record<Code, ErrorEntry>): Catalogue<Code> {
  return {
    entries: Object.freeze(entries),
    error: (code, message, options) => new TuntasError(code, message, entries[code], options),
  };
}

export function isTuntasError(value: unknown, code?: string): value is TuntasError {
  return value instanceof TuntasError && (code === undefined || value.code === code);
}
