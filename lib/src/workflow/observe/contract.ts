// What someone who watches an execution sees: where it stands, and why it goes no further.

export type Hold =
  | "timer"
  | "retry"
  | "turn"
  | "token"
  | "activity"
  | "handler"
  | "call"
  | "nested"
  | "children"
  | "map run"
  | "halted"
  | "ready";

/** One line of control of an execution, and what it waits for. */
export interface Position {
  readonly branch: number;
  /** The states that lead to it, from the outside in: `Check all[2] › Ask`. */
  readonly path: readonly string[];
  readonly state: string;
  readonly hold: Hold;
  /** In words: until when, whose task, which token. */
  readonly reason: string;
  readonly sinceMs: number;
  /** When the clock moves it: the timer's end, or a timeout. */
  readonly untilMs: number | null;
  /** Tries again so far. */
  readonly retries: number;
  /** What an operator may do. */
  readonly remedy: string | null;
}
