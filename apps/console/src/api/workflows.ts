import type {
  AliasRecord,
  ExecutionRecord,
  ExecutionSummary,
  Inspection,
  MachineRecord,
  MachineSurvey,
  MapRunRecord,
  Position,
  Verdict,
  VersionRecord,
} from "tuntas/workflow";
import type { Paged, Reasoned } from "./basics.ts";

export type {
  AliasRecord,
  ExecutionRecord,
  ExecutionSummary,
  Inspection,
  MachineRecord,
  MachineSurvey,
  MapRunRecord,
  Position,
  Verdict,
  VersionRecord,
};

export interface MachineView {
  readonly record: MachineRecord;
  readonly versions: readonly VersionRecord[];
  readonly aliases: readonly AliasRecord[];
}

export type VisitOutcome = "succeeded" | "caught" | "running" | "failed" | "aborted" | "timed out";

/** One try of what a state calls. */
export interface VisitAttempt {
  readonly scheduledAtMs: number;
  /** Null until a worker has it. */
  readonly startedAtMs: number | null;
  readonly endedAtMs: number | null;
  readonly outcome: "running" | "succeeded" | "failed" | "timed out";
  readonly error: string | null;
  readonly cause: string | null;
}

/** One stay in a state. */
export interface Visit {
  /** The event by which it was entered. */
  readonly id: number;
  readonly state: string;
  readonly type: string;
  /** The visit of the Parallel or Map around it. */
  readonly parent: number | null;
  /** Which item of the Map around it. */
  readonly item: number | null;
  readonly enteredAtMs: number;
  readonly exitedAtMs: number | null;
  readonly outcome: VisitOutcome;
  readonly attempts: readonly VisitAttempt[];
}

/** What went in and out of a stay. Null: it has not come to that. */
export interface VisitTexts {
  readonly id: number;
  readonly input: string | null;
  readonly output: string | null;
  /** JSON text of the variables that it set. */
  readonly assigned: string | null;
  /** What each attempt was given and answered. */
  readonly attempts: readonly { readonly input: string | null; readonly output: string | null }[];
}

export interface RunView {
  /** Input and output as the role may see them. */
  readonly execution: ExecutionRecord;
  readonly machine: string;
  readonly definition: string;
  /** The first thousands; whether there are more says `cut`. */
  readonly visits: readonly Visit[];
  readonly cut: boolean;
  readonly positions: readonly Position[];
  readonly mapRuns: readonly MapRunRecord[];
  /** The database's clock when this was read. */
  readonly nowMs: number;
}

export interface RunEvent {
  readonly id: number;
  readonly previousEventId: number;
  readonly atMs: number;
  readonly type: string;
  readonly state: string | null;
  /** JSON text; null where there are none. */
  readonly details: string | null;
}

export interface ExecutionQuery {
  readonly machine?: string;
  readonly status?: string;
  /** Its beginning. */
  readonly name?: string;
  readonly error?: string;
  /** Started within this time: `1h`, `24h`, `7d`. */
  readonly within?: string;
  readonly mapRun?: string;
  readonly after?: string;
}

export interface WorkflowReads {
  machines: { query: { search?: string; after?: string }; answer: Paged<MachineSurvey> };
  machine: { query: { machine: string }; answer: MachineView };
  executions: { query: ExecutionQuery; answer: Paged<ExecutionSummary> };
  run: { query: { arn: string }; answer: RunView };
  "run.visit": { query: { arn: string; visit: number }; answer: VisitTexts };
  "run.events": { query: { arn: string; after?: string }; answer: Paged<RunEvent> };
  /** What the run has left behind, beside what its state says: the domain's row, commands, announcements, side effects. */
  "run.evidence": { query: { arn: string }; answer: Inspection };
}

export interface WorkflowActs {
  "workflow.start": {
    body: Reasoned & { readonly machine: string; readonly name?: string; readonly input: string };
    answer: { readonly status: "created" | "duplicate" | "conflict"; readonly arn: string };
  };
  "workflow.stop": {
    body: Reasoned & { readonly arn: string };
    answer: { readonly status: "stopped" | "ended before" };
  };
  "workflow.redrive": {
    body: Reasoned & { readonly arn: string; readonly seen: Verdict; readonly reconciled: boolean };
    answer: { readonly status: "redriven" };
  };
}
