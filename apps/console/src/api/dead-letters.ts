import type { Forbidden } from "tuntas/operation";
import type { Attribute, DeadGroup, DeadItem, DeadPlace, Resent } from "tuntas/queue";
import type { Paged, Reasoned } from "./basics.ts";

export type { Attribute, DeadGroup, DeadItem, DeadPlace, Forbidden };

/** Which dead letters; what is left out is not asked for. */
export interface DeadFilter {
  readonly queue?: string;
  readonly place?: DeadPlace;
  readonly code?: string;
  readonly fingerprint?: string;
  readonly schemaVersion?: string;
  readonly messageIds?: readonly string[];
}

/** What an operation would be done to, what it came to, or that it goes on. */
export interface Operated {
  readonly status: "planned" | "running" | "completed" | "aborted";
  /** Null before it is begun. */
  readonly operation: string | null;
  readonly selected: number;
  readonly moved: number;
  /** Messages that somebody else moved or received in the meantime. */
  readonly skipped: number;
  readonly forbidden: readonly Forbidden[];
}

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
  /** A new message to where the old one died; the old one is rejected. Both or neither. */
  "dead.resend": {
    body: Reasoned & {
      readonly id: string;
      readonly body: string;
      /** A text is one of type String; the old ones where it is left out. */
      readonly attributes?: Readonly<Record<string, string | Attribute>>;
    };
    answer: Resent;
  };
  "dead.reject": {
    body: DeadFilter & Reasoned & { readonly dryRun?: boolean; readonly code?: string };
    answer: Operated;
  };
}
