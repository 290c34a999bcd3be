// What a caller of the workflow room sees: machines, executions, activities, and the error codes. Texts (definitions,
// inputs, outputs) are kept and answered byte for byte.
import type { ExecutionStatus, ExecutionType, Failure, HistoryEvent } from "../asl/contract.ts";
import { catalogue } from "../core/error.ts";

export type { Scope } from "../queue/contract.ts";
export type { ExecutionStatus, ExecutionType, HistoryEvent };

/** A child of a map run that is being redriven waits for its turn. */
export type RecordStatus = ExecutionStatus | "PENDING_REDRIVE";

export interface MachineRevision {
  readonly revision: string;
  /** Null until the first update. */
  readonly revisionId: string | null;
  readonly definition: string;
  readonly roleArn: string;
  /** JSON texts as given. */
  readonly logging: string | null;
  readonly tracing: string | null;
  readonly encryption: string | null;
  /** Names of the functions that handlers of an application carry out; null where nobody declared the machine. */
  readonly handlers: readonly string[] | null;
  readonly updatedAtMs: number;
}

export interface MachineRecord extends MachineRevision {
  readonly id: string;
  readonly arn: string;
  readonly name: string;
  readonly type: ExecutionType;
  readonly createdAtMs: number;
}

export interface MachineSettings {
  readonly definition: string;
  readonly roleArn: string;
  readonly logging?: string | undefined;
  readonly tracing?: string | undefined;
  readonly encryption?: string | undefined;
  readonly handlers?: readonly string[] | undefined;
}

export interface VersionRecord {
  readonly arn: string;
  readonly number: number;
  readonly revision: string;
  readonly description: string | null;
  readonly createdAtMs: number;
}

export interface Route {
  readonly stateMachineVersionArn: string;
  readonly weight: number;
}

export interface AliasRecord {
  readonly arn: string;
  readonly name: string;
  readonly description: string | null;
  readonly routes: readonly Route[];
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface ExecutionRecord extends Failure {
  readonly id: string;
  readonly arn: string;
  readonly name: string;
  readonly machineId: string;
  readonly machineArn: string;
  readonly revision: string;
  readonly type: ExecutionType;
  readonly versionArn: string | null;
  readonly aliasArn: string | null;
  readonly traceHeader: string | null;
  readonly mapRunArn: string | null;
  readonly status: RecordStatus;
  readonly input: string;
  readonly output: string | null;
  readonly startedAtMs: number;
  readonly stoppedAtMs: number | null;
  readonly redriveCount: number;
  readonly redrivenAtMs: number | null;
  /** Items that it works on, told where children of a map run are listed. */
  readonly itemCount?: number;
}

export interface ActivityRecord {
  readonly arn: string;
  readonly name: string;
  readonly encryption: string | null;
  readonly createdAtMs: number;
}

export interface MapRunRecord {
  readonly arn: string;
  readonly executionArn: string;
  readonly machineArn: string;
  readonly status: "RUNNING" | "SUCCEEDED" | "FAILED" | "ABORTED";
  readonly concurrency: number;
  readonly failureCount: number | null;
  readonly failurePercentage: number | null;
  readonly itemCount: number;
  readonly childCount: number;
  /** Children by status; those that did not start are not counted. */
  readonly counts: Readonly<Record<string, number>>;
  /** Their items likewise: as many as children, but for batches. */
  readonly itemCounts: Readonly<Record<string, number>>;
  /** Failed children that used up their history, and so cannot be redriven. */
  readonly exhausted: number;
  /** Whether its ResultWriter has written what came of the children that have ended. */
  readonly resultsWritten: boolean;
  readonly startedAtMs: number;
  readonly stoppedAtMs: number | null;
  readonly redriveCount: number;
  readonly redrivenAtMs: number | null;
}

/** Which machine, at which revision, and by which version or alias it was named. */
export interface Target {
  readonly machine: MachineRecord;
  readonly versionArn: string | null;
  readonly aliasArn: string | null;
}

export interface StartRequest {
  readonly target: Target;
  readonly name: string;
  readonly input: string;
  readonly traceHeader?: string | undefined;
}

export type StartResult =
  | { readonly status: "created" | "duplicate"; readonly arn: string; readonly startedAtMs: number }
  /** An execution of that name has another input, or has ended. */
  | { readonly status: "conflict"; readonly arn: string };

/** What a backfill's handler would have started: what it works on is no news, so that nothing was. */
export interface SuppressedStart {
  readonly status: "suppressed";
  readonly arn: string;
}

export interface EndedExecution extends Failure {
  readonly arn: string;
  readonly status: Exclude<ExecutionStatus, "RUNNING">;
  readonly output?: string;
  readonly startedAtMs: number;
  readonly stoppedAtMs: number;
}

/** What an answer with a task token came to. */
export type AnswerResult = { readonly status: "accepted" | "gone" | "invalid" };

export interface Page {
  readonly limit: number;
  /** Items to leave out: those of the pages before. */
  readonly offset: number;
}

export const workflowErrors = catalogue({
  TUNTAS_EXECUTION_TAKEN: {
    meaning: "An execution of that name was started before, with another input.",
    remedy: "Use a new command for a new start; a name is free for one start only.",
  },
  TUNTAS_EXECUTION_MISSING: {
    meaning: "There is no execution of that ARN or id.",
    remedy: "List the machine's executions; those of a deleted database are gone.",
  },
  TUNTAS_DEFINITION_MISSING: {
    meaning: "The revision of the machine that an execution runs is not in the database.",
    remedy: "Restore the row of tuntas.machine_revision; revisions are never removed by Tuntas.",
  },
  TUNTAS_WORKFLOW_NAME: {
    meaning: "A workflow's name is not one that Step Functions takes.",
    remedy: "Use 1 to 80 letters, digits, hyphens and underscores.",
  },
  TUNTAS_WORKFLOW_DEFINITION: {
    meaning: "A workflow's document, its placeholders or its handlers do not fit together.",
    remedy: "Mend what the message names; `tuntas workflow test` runs the whole machine without a database.",
  },
  TUNTAS_WORKFLOW_RETRY: {
    meaning: "A state is tried again, but its task does not say that a repeat is harmless.",
    remedy:
      "Write through ctx.tx or ctx.write, or hand ctx.idempotencyKey on, and declare task({ idempotent: true, … }); else leave the Retry out.",
  },
  TUNTAS_WORKFLOW_INPUT: {
    meaning:
      "The input that an execution was to be started with does not fit the workflow's schema or Tuntas.",
    remedy: "Mend the input; nothing was started.",
  },
  TUNTAS_WORKFLOW_MOCK: {
    meaning: "A workflow under test came to a task that no mock stands for.",
    remedy: "Add a mock under the name of the state, or of the function that it calls.",
  },
  TUNTAS_WORKFLOW_MISSING: {
    meaning: "There is no workflow (state machine) of that name or ARN.",
    remedy: "See which there are with `tuntas workflow list`; an application makes its own when it starts.",
  },
  TUNTAS_WORKFLOW_NOT_STARTED: {
    meaning: "An execution was to be started, but no started application holds its workflow.",
    remedy: "Start the application first: `await using app = await start(…)`.",
  },
  TUNTAS_TASK_INPUT: {
    meaning: "What a state handed to its task does not fit the task's schema. The state fails by this name.",
    remedy: "Mend the state's Parameters (Arguments) or the schema; a Catch may take the error by its name.",
  },
  TUNTAS_TASK_OUTPUT: {
    meaning: "A task returned what cannot be written as JSON. The state fails by this name.",
    remedy: "Return plain data: no BigInt, no cycle, no lone surrogate, no NUL.",
  },
  TUNTAS_TASK_LOST: {
    meaning: "A step belongs to somebody else by now: it timed out, was stopped or was taken over.",
    remedy: "Nothing that this attempt wrote through ctx.tx or ctx.write took place; let the handler end.",
  },
  TUNTAS_ANSWER_LATE: {
    meaning:
      "A task was to be answered that does not wait: it timed out, was stopped, or has had its answer.",
    remedy:
      "Change nothing and let the work be rejected; the execution has taken another way. Where the change stands by itself (a receipt), go on without the answer.",
  },
  TUNTAS_MACHINE_UNREACHABLE: {
    meaning: "The service in which the application's machines run could not be reached, or not in time.",
    remedy:
      "See that it runs and that its endpoint and credentials are right; what was announced is told again by itself.",
    retryable: true,
  },
  TUNTAS_MACHINE_REFUSED: {
    meaning: "The service in which the application's machines run refused a request for what it asks.",
    remedy:
      "Mend what the message names: a right that the role lacks, a start or an answer that it does not take.",
  },
  TUNTAS_WORKFLOW_ELSEWHERE: {
    meaning: "Something was asked of a workflow that runs elsewhere, which cannot be done from here.",
    remedy: "Do it where the workflow runs, as the message says, or let the workflow run in this database.",
  },
  TUNTAS_TASK_UNKNOWN: {
    meaning: "A machine elsewhere asks for a task that the application, as it runs here, does not have.",
    remedy:
      "Run the revision of the application that the machine was deployed with; the message comes back until somebody takes it.",
  },
  TUNTAS_ADVANCE_LOST: {
    meaning: "Other processes advanced the same execution again and again, and this one never came through.",
    remedy: "Try again; the event was not lost if it came from the clock or from a call.",
    retryable: true,
  },
});
