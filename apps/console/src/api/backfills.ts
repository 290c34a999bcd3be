import type { AuditRecord } from "tuntas/access";
import type {
  BackfillPartitionReport,
  BackfillReport,
  FailedRecord,
  RunReport,
  RunState,
  RunVerb,
  Sample,
} from "tuntas/batch";
import type { None, Paged, Reasoned } from "./basics.ts";

export type { BackfillPartitionReport, BackfillReport, FailedRecord, RunReport, RunState, RunVerb, Sample };

export interface BackfillView extends BackfillReport {
  /** Null where it was never planned. */
  readonly latest: RunReport | null;
}

export interface BackfillRunView extends RunReport {
  readonly declared: BackfillReport;
  /** The database's clock. */
  readonly nowMs: number;
  /** What last became of it, by whom and why; null where that is not on record any more. */
  readonly lastAct: AuditRecord | null;
}

interface RunId {
  readonly id: string;
}

export interface BackfillReads {
  backfills: { query: None; answer: readonly BackfillView[] };
  /** The newest first. */
  "backfill.runs": {
    query: { readonly backfill?: string; readonly state?: RunState; readonly after?: string };
    answer: Paged<RunReport>;
  };
  "backfill.run": { query: RunId; answer: BackfillRunView };
  /** Those that are open first; as many as one looks through. */
  "backfill.partitions": { query: RunId; answer: readonly BackfillPartitionReport[] };
  /** Of the run once it has begun, before that of its dry run. */
  "backfill.failures": { query: RunId; answer: readonly FailedRecord[] };
}

type Said = RunId & Reasoned;

export interface BackfillActs {
  "backfill.say": {
    body: Said & { readonly verb: Exclude<RunVerb, "approve" | "rate"> };
    answer: RunReport;
  };
  "backfill.approve": { body: Said; answer: RunReport };
  /** Records a second, from the next slice on. */
  "backfill.rate": { body: Said & { readonly perSecond: number }; answer: RunReport };
}
