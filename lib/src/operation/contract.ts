// What a caller of the operation room sees: what an operation is, what a kind of operation must be able to do, and the
// error codes.
import { catalogue } from "../core/error.ts";
import type { Tx } from "../pg/contract.ts";
import type { Runner } from "../pg/join.ts";

export type OperationState =
  | "awaiting_approval"
  | "running"
  | "paused"
  | "completed"
  | "aborted"
  /** Another person said no. */
  | "declined"
  /** It cannot go on; what was done until then stays done. Resumed, it tries again. */
  | "failed";

/** Who does it and why; both go on the record. */
export interface Act {
  readonly actor: string;
  readonly reason: string;
}

/** `refused`: a rule forbids it. `skipped`: there was nothing to do any more. */
export type ItemOutcome = "done" | "refused" | "skipped";

/** One thing that an operation is to be done to. */
export interface OperationItem {
  /** What people call it: a message id, an ARN. */
  readonly item: string;
  /** Where the next page begins after it. */
  readonly cursor: string;
}

export interface ItemResult {
  readonly item: string;
  readonly outcome: ItemOutcome;
  readonly reason?: string | undefined;
  /** How many things it stands for; 1 where it is not given. */
  readonly weight?: number | undefined;
}

export interface Forbidden {
  readonly rule: string;
  readonly count: number;
}

/** What an operation would be done to. */
export interface Survey<S> {
  /** The selection with its end in time: what comes later is not part of it. */
  readonly selection: S;
  /** Without what is forbidden. */
  readonly count: number;
  readonly forbidden: readonly Forbidden[];
  /** A few of them, for a look. */
  readonly sample: readonly string[];
}

interface KindBasis<S, I extends OperationItem> {
  /** A verb: `replay`, `redrive`. */
  readonly name: string;
  /** Refuses a selection that makes no sense, and completes it. Errors: the kind's own. */
  readonly survey: (selection: S) => Promise<Survey<S>>;
  /** The things after the cursor, in a fixed order; all of them where `limit` is not reached. */
  readonly page: (
    selection: S,
    after: string | null,
    limit: number,
  ) => Promise<{ readonly items: readonly I[]; readonly end: boolean }>;
  /** After the commit that did it. */
  readonly announce?: (selection: S, items: readonly I[], results: readonly ItemResult[]) => void;
}

/** How an operation ends that is one piece of work. */
export interface HeldEnd {
  readonly state: "completed" | "failed";
  readonly failure: string | null;
  readonly result: ItemResult;
}

/** An operation in the hands of the process that carries it out. */
export interface Hold {
  readonly id: string;
  /** Aborts when a person has stopped it, another process has taken it over, or this one ends. */
  readonly signal: AbortSignal;
  /** Aborts when this process ends. */
  readonly closing: AbortSignal;
  /** Ends it in the transaction that holds what was done; false where it is not in these hands any more: roll back. */
  end(tx: Runner, end: HeldEnd): Promise<boolean>;
}

/**
 * What can be done to many things, once registered. With `applyIn` a slice is done in the transaction that records its
 * results: exactly once. With `apply` each thing is done before its result is recorded, and after a crash perhaps once
 * more: it must find out by itself that nothing is left to do. With `perform` it is one piece of work, which ends it itself.
 */
export type OperationKind<S = any, I extends OperationItem = any> = KindBasis<S, I> &
  (
    | {
        readonly applyIn: (
          tx: Tx,
          selection: S,
          items: readonly I[],
          act: Act,
        ) => Promise<readonly ItemResult[]>;
      }
    | { readonly apply: (selection: S, item: I, act: Act) => Promise<ItemResult> }
    | { readonly perform: (hold: Hold) => Promise<void> }
  );

export interface StartOptions extends Act {
  readonly kind: string;
  readonly selection: unknown;
  /** The same key is the same operation, however often it is asked for; a new one each time where it is not given. */
  readonly key?: string | undefined;
  /** The count that the preview showed; refused where it has changed by more than a tenth. */
  readonly expected?: number | undefined;
  readonly perSecond?: number | undefined;
  /** Waits until another person approves. */
  readonly approval?: boolean | undefined;
  /** Leaves out what a rule forbids; else nothing begins while anything is forbidden. */
  readonly skipForbidden?: boolean | undefined;
}

export interface Progress {
  readonly done: number;
  readonly refused: number;
  readonly skipped: number;
}

export interface Operation extends Act, Progress {
  readonly id: string;
  readonly key: string;
  readonly kind: string;
  readonly selection: unknown;
  readonly state: OperationState;
  readonly selected: number;
  readonly perSecond: number | null;
  readonly decidedBy: string | null;
  readonly askedAtMs: number;
  readonly endedAtMs: number | null;
  /** Why it cannot go on; while it runs, what it waits for. */
  readonly failure: string | null;
}

export interface RecordedItem {
  readonly number: number;
  readonly item: string;
  readonly outcome: ItemOutcome;
  readonly reason: string | null;
  readonly weight: number;
  readonly atMs: number;
}

/** `conflict`: the key belongs to another request. */
export interface Started {
  readonly status: "created" | "duplicate" | "conflict";
  readonly operation: Operation;
}

export const operationErrors = catalogue({
  TUNTAS_OPERATION_MISSING: {
    meaning: "There is no operation of that id.",
    remedy: "See them with `tuntas operation list`.",
  },
  TUNTAS_OPERATION_KIND: {
    meaning: "There is no such kind of operation.",
    remedy: "Use one of the kinds that the message names, or register it in the application first.",
  },
  TUNTAS_OPERATION_OPTIONS: {
    meaning: "An operation does not say who does it, why, or to what.",
    remedy: "Give actor and reason, which go on the record, and a selection that the kind understands.",
  },
  TUNTAS_OPERATION_EMPTY: {
    meaning: "Nothing is selected, so that there is nothing to do.",
    remedy: "Widen the selection; a preview says what it would be done to.",
  },
  TUNTAS_OPERATION_CHANGED: {
    meaning: "What is selected has changed by more than a tenth since the preview.",
    remedy: "Look at it again, then start with the new count.",
  },
  TUNTAS_OPERATION_FORBIDDEN: {
    meaning: "A rule forbids it for a part of what is selected; nothing was done.",
    remedy: "Narrow the selection, or leave out what is forbidden (skipForbidden).",
  },
  TUNTAS_OPERATION_STATE: {
    meaning: "The operation is not in a state in which this can be done to it.",
    remedy: "See its state with `tuntas operation show ID`.",
  },
  TUNTAS_OPERATION_FOUR_EYES: {
    meaning: "Whoever asked for an operation tried to approve it.",
    remedy: "Have another person look at it and approve it.",
  },
});
