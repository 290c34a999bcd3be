// Where announcements go. A room that has something to tell a room above or beside it (or the outside) names a target:
// kind, name, key, payload. platform.ts binds each kind to whoever takes it; an application binds its own functions.
import type { Tx } from "../pg/contract.ts";

export interface TargetName {
  /** `queue`, `workflow`, `http`, `function`, or an application's own. */
  readonly kind: string;
  readonly name: string;
}

export interface Announcement {
  readonly target: TargetName;
  /** The same at every delivery of one announcement: what a receiver tells duplicates by. */
  readonly eventId: string;
  readonly key: string | null;
  readonly type: string | null;
  readonly payload: string;
}

/** What a target made of an announcement. A duplicate was taken before, which is as good. */
export interface Receipt {
  readonly status: "created" | "duplicate";
  /** What the target calls it: a message id, an execution's ARN. */
  readonly reference?: string | undefined;
}

/** How a target's refusals are taken. An unreachable target costs a row nothing. */
export interface RefusalPolicy {
  /** A row is parked after so many refusals of its own. */
  readonly refusalsMax: number;
  readonly backoff: { readonly baseMs: number; readonly maxMs: number };
}

export interface JoiningTarget {
  readonly deliverIn: (tx: Tx, batch: readonly Announcement[]) => Promise<readonly Receipt[]>;
}

/**
 * Takes announcements of one kind. With `deliverIn` they are taken in the relay's own transaction, once; with `deliver`
 * at least once, outside any transaction. A rejection is the announcement's own fault unless `isUnavailable` says that
 * the target could not be reached.
 */
export type Target =
  | JoiningTarget
  | {
      readonly deliver: (announcement: Announcement, signal: AbortSignal) => Promise<Receipt | void>;
      /** How long one delivery may take; 10 s by default. */
      readonly timeoutMs?: number;
      /** Ten refusals with a pause of 500 ms to a minute by default. */
      readonly refusals?: RefusalPolicy;
    };

export interface Targets {
  /** Binds every name of the kind, or one name. Answers what undoes it. */
  bind(of: { readonly kind: string; readonly name?: string }, target: Target): () => void;
  find(of: TargetName): Target | undefined;
}

const slot = (kind: string, name: string | undefined): string =>
  JSON.stringify(name === undefined ? [kind] : [kind, name]);

export function makeTargets(): Targets {
  const bound = new Map<string, Target>();
  return {
    bind({ kind, name }, target) {
      const at = slot(kind, name);
      bound.set(at, target);
      return () => {
        if (bound.get(at) === target) bound.delete(at);
      };
    },
    find: ({ kind, name }) => bound.get(slot(kind, name)) ?? bound.get(slot(kind, undefined)),
  };
}
