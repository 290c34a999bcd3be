import type { ItemOutcome, Operation, OperationState, RecordedItem } from "tuntas/operation";
import type { Paged, Reasoned } from "./basics.ts";

export type { Operation, OperationState, RecordedItem };

export interface OperationReads {
  operations: {
    query: { readonly state?: OperationState };
    answer: { readonly items: readonly Operation[] };
  };
  operation: { query: { readonly id: string }; answer: Operation };
  "operation.items": {
    query: { readonly id: string; readonly outcome?: ItemOutcome; readonly after?: string };
    answer: Paged<RecordedItem>;
  };
}

interface Named extends Reasoned {
  readonly id: string;
}

export interface OperationActs {
  /** By another person than the one who asked for it. */
  "operation.decide": { body: Named & { readonly verb: "approve" | "decline" }; answer: Operation };
  "operation.steer": { body: Named & { readonly verb: "pause" | "resume" | "abort" }; answer: Operation };
  /** As fast as it goes where there is no rate. */
  "operation.rate": { body: Named & { readonly perSecond?: number }; answer: Operation };
}
