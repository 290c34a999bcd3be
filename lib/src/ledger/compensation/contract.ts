// What a caller of compensations sees. There is no rollback across services; what a step did is undone by another act,
// which is on record from the moment that the step is.
import { refuseUnknown, type NamesOf } from "../../core/options.ts";
import type { Duration } from "../../core/duration.ts";
import type { HandlerTx } from "../../engine/handler/contract.ts";
import type { Sql } from "../../pg/contract.ts";

/** What an undo gets beside its input. It is a context for `effect` too. */
export interface UndoContext {
  /** What is written through it commits together with the record that this undo is done. */
  readonly tx: HandlerTx;
  readonly transactionOpen: boolean;
  readonly database: Sql;
  readonly signal: AbortSignal;
  /** The work that is undone. */
  readonly caller: string;
  /** The same at every attempt: the idempotency key of a call to the outside. */
  readonly key: string;
  /** 1 at the first. */
  readonly attempt: number;
}

export interface CompensationOptions<Input> {
  readonly name: string;
  /** How long one attempt may take; 30s by default. */
  readonly timeout?: Duration;
  /** An undo that cannot be made at the moment is tried so often, one that fails for itself once; 5 by default. */
  readonly attemptsMax?: number;
  /** Undoes what the step did; harmless where that never took effect outside. */
  readonly undo: (input: Input, context: UndoContext) => Promise<unknown>;
}

export interface Compensation<Input = any> {
  readonly kind: "compensation";
  readonly options: CompensationOptions<Input>;
}

const optionNames: NamesOf<CompensationOptions<any>> = {
  name: true,
  timeout: true,
  attemptsMax: true,
  undo: true,
};

/** Declares how a step is undone. Errors: TUNTAS_OPTION_UNKNOWN. */
export function compensation<Input>(options: CompensationOptions<Input>): Compensation<Input> {
  refuseUnknown("compensation", options, optionNames);
  return { kind: "compensation", options };
}

export interface CompensationRow {
  readonly id: string;
  readonly work: string;
  readonly name: string;
  readonly key: string;
  /** JSON text. */
  readonly input: string;
  readonly state: "registered" | "running" | "parked" | "done";
  readonly attempts: number;
  readonly failureCode: string | null;
  readonly failureMessage: string | null;
  readonly settledBy: string | null;
  readonly ageMs: number;
}

/** What running the undos of one work came to. */
export type CompensateAnswer =
  /** Everything that was registered is undone. */
  | { readonly status: "completed"; readonly done: number }
  /** One cannot be made at the moment; run it again later. */
  | { readonly status: "waiting"; readonly done: number; readonly row: CompensationRow }
  /** One failed, and everything before it waits for a person. */
  | { readonly status: "parked"; readonly done: number; readonly row: CompensationRow }
  /** Somebody else is at it. */
  | { readonly status: "busy"; readonly done: number; readonly row: CompensationRow };
