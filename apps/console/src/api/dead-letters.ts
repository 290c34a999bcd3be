import type { DeadGroup, DeadItem, DeadPlace, Forbidden, OperationReport } from "tuntas/queue";
import type { Paged, Reasoned } from "./basics.ts";

export type { DeadGroup, DeadItem, DeadPlace, Forbidden, OperationReport };

/** Which dead letters; what is left out is not asked for. */
export interface DeadFilter {
  readonly queue?: string;
  readonly place?: DeadPlace;
  readonly code?: string;
  readonly fingerprint?: string;
  readonly schemaVersion?: string;
  readonly messageIds?: readonly string[];
}

/** What an operation came to, or that it goes on under this id. */
export type Operated =
  OperationReport | { readonly status: "running"; readonly selected: number; readonly operation: string };

export interface DeadLetterReads {
  "dead.groups": {
    query: Pick<DeadFilter, "queue" | "place">;
    answer: { readonly groups: readonly DeadGroup[] };
  };
  "dead.items": {
    query: Omit<DeadFilter, "messageIds"> & { after?: string };
    answer: Paged<DeadItem>;
  };
}

export interface DeadLetterActs {
  "dead.replay": {
    body: DeadFilter &
      Reasoned & {
        readonly dryRun?: boolean;
        /** Where to; each to the queue that it died in where it is left out. */
        readonly destination?: string;
        readonly perSecond?: number;
        readonly effectChecked?: boolean;
        readonly skipForbidden?: boolean;
      };
    answer: Operated;
  };
  /** A new message with another body, to where the old one died; the old one is rejected. */
  "dead.resend": {
    body: Reasoned & { readonly id: string; readonly body: string };
    answer: { readonly messageId: string; readonly old: "rejected" | "being rejected" | "gone" };
  };
  "dead.reject": {
    body: DeadFilter & Reasoned & { readonly dryRun?: boolean; readonly code?: string };
    answer: Operated;
  };
}
