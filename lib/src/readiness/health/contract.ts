// What `tuntas health` sees and says: ten conditions under which the whole is well. Pure: facts come in, conditions come out.
import type { ConnectionBudget } from "../../service/index.ts";
import type { LiveService } from "../contract.ts";

/** A queue that is worked on, as it stands and as it was ten minutes ago. Those that take dead letters are not among them. */
export interface QueueCourse {
  readonly name: string;
  readonly paused: boolean;
  /** Of the message at the front; null where none is ready. */
  readonly oldestAgeMs: number | null;
  /** Messages that came in these ten minutes. */
  readonly came: number;
  /** How many more are ready than ten minutes ago; null where nobody has looked at it since. */
  readonly grewBy: number | null;
  /** Messages of it that wait for a person. */
  readonly dead: number;
  /** What is being done to all of them, such as `operation 12 (replay) is running`; null where nothing is. */
  readonly handledBy: string | null;
  /** What concerns them and leaves them where they are, or some of them; null where nothing does. */
  readonly pending: string | null;
}

/** What the alarms on queues allow. */
export interface Limits {
  /** Of `oldest-message`. */
  readonly oldestMaxMs: number;
  /** So many may wait in any case, and so many more than ten minutes ago: the second bound of `backlog-rising`. */
  readonly waitingMax: number;
}

/** Calls to providers in the last hour. */
export interface Calls {
  readonly all: number;
  readonly failed: number;
  /** Whose end nobody knows. */
  readonly unknown: number;
}

export interface HealthFacts {
  /** Those that are deployed and not stopped. */
  readonly services: readonly LiveService[];
  readonly queues: readonly QueueCourse[];
  readonly limits: Limits;
  readonly calls: Calls;
  /** Undefined behind a pooler, which has its own count. */
  readonly connections: Pick<ConnectionBudget, "total" | "available" | "fits"> | undefined;
}

export const verdicts = ["good", "bad", "unknown"] as const;
export type Verdict = (typeof verdicts)[number];

export interface Condition {
  readonly id: string;
  readonly says: string;
  /** `unknown`: there is nothing of the kind, or no machine can tell. */
  readonly verdict: Verdict;
  /** What was seen, with its limit. */
  readonly found: string;
  /** What to do; null where it is not bad. */
  readonly remedy: string | null;
}

export interface Health {
  readonly healthy: boolean;
  readonly conditions: readonly Condition[];
}
