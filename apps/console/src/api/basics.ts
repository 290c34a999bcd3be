// What every answer of the console's API is made of.

/** A list that goes on: ask again with `after`; null at its end. */
export interface Paged<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}

/** Who answers for a thing, and where it says what to do. */
export interface Owned {
  /** Null where nobody has declared it. */
  readonly owner: string | null;
  readonly runbook: string | null;
}

/** Every act says why; who is known from the session. */
export interface Reasoned {
  readonly reason: string;
}

/** An error as the API answers it, with content type application/problem+json. */
export interface Problem {
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  readonly code: string;
  readonly remedy: string;
}

/** Nothing to ask by. */
export type None = Readonly<Record<never, never>>;
