import type { AuditRecord } from "tuntas/access";
import type { BatchReport, JobReport, JobState, PartitionReport, PartitionState, Verb } from "tuntas/batch";
import type { None, Paged, Reasoned } from "./basics.ts";

export type { BatchReport, JobReport, JobState, PartitionReport, PartitionState };
export type JobVerb = Verb;

export interface JobView extends JobReport {
  readonly declared: BatchReport;
  /** The database's clock. */
  readonly nowMs: number;
  /** What a person last did to it, which is at least that it was asked for; null where that is not on record any more. */
  readonly lastAct: AuditRecord | null;
}

interface JobId {
  readonly id: string;
}

export interface BatchReads {
  batches: { query: None; answer: readonly BatchReport[] };
  /** The newest first. */
  "batch.jobs": {
    query: { readonly batch?: string; readonly state?: JobState; readonly after?: string };
    answer: Paged<JobReport>;
  };
  "batch.job": { query: JobId; answer: JobView };
  /** In the order of the plan. */
  "batch.partitions": {
    query: JobId & { readonly state?: PartitionState; readonly after?: string };
    answer: Paged<PartitionReport>;
  };
}

export interface BatchActs {
  "batch.say": { body: JobId & Reasoned & { readonly verb: JobVerb }; answer: JobReport };
}
