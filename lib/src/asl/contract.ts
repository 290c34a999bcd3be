// What the engine and the language say to each other. The language decides, the engine does: it keeps the state as
// text, carries the commands out, and comes back with what happened. Everything here is plain JSON.

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

export type ExecutionType = "STANDARD" | "EXPRESS";
export type ExecutionStatus = "RUNNING" | "SUCCEEDED" | "FAILED" | "TIMED_OUT" | "ABORTED";

/** What the context object ($$, $states.context) tells about the run; it does not change but for a redrive. */
export interface ExecutionIdentity {
  /** Execution ARN. */
  readonly id: string;
  readonly name: string;
  readonly roleArn: string | null;
  /** ISO 8601. */
  readonly startTime: string;
  /** Left out where there is no redrive: in TestState. */
  readonly redriveCount?: number;
  /** ISO 8601, of the latest redrive. */
  readonly redriveTime?: string;
  readonly machineId: string;
  readonly machineName: string;
}

/** An error as the language knows it. Either part may be missing: a task may fail without a name or a cause. */
export interface Failure {
  readonly error?: string;
  readonly cause?: string;
}

/** What every event carries, so that a decision needs no clock and no chance of its own. */
export interface Moment {
  readonly nowMs: number;
  /** Fresh randomness, a UUID say: ids, tokens, $random, $uuid and jitter are derived from it. */
  readonly seed: string;
}

/** What happened. Numbers name the task, timer, reader or map run of an earlier command. */
export type Happening =
  | {
      readonly type: "started";
      readonly execution: ExecutionIdentity;
      readonly input: Json;
      /** By which it was started, where that is not the machine itself. */
      readonly aliasArn?: string | null;
      readonly versionArn?: string | null;
    }
  | { readonly type: "taskStarted"; readonly task: number; readonly workerName?: string }
  | { readonly type: "taskSubmitted"; readonly task: number; readonly output: Json }
  | {
      readonly type: "taskSucceeded";
      readonly task: number;
      readonly output: Json;
      /** The output as JSON, where whoever tells has it. */
      readonly text?: string | undefined;
    }
  | ({
      readonly type: "taskFailed";
      readonly task: number;
      readonly phase?: "schedule" | "start" | "submit" | "run";
      /** No retrier applies: trying again cannot help, or must not happen before somebody has looked. */
      readonly final?: boolean;
    } & Failure)
  | { readonly type: "taskTimedOut"; readonly task: number; readonly clock: "timeout" | "heartbeat" }
  | { readonly type: "timerFired"; readonly timer: number }
  | { readonly type: "itemsRead"; readonly reader: number; readonly body: string }
  | ({ readonly type: "itemsFailed"; readonly reader: number } & Failure)
  | {
      readonly type: "mapRunEnded";
      readonly mapRun: number;
      readonly children: readonly ChildResult[];
      /** Those that never ran, because the run failed before. */
      readonly pending?: readonly PendingChild[];
      /** Where it was changed while the run ran. */
      readonly tolerance?: Tolerance;
    }
  | { readonly type: "resultsWritten"; readonly mapRun: number }
  | ({ readonly type: "resultsFailed"; readonly mapRun: number } & Failure)
  | ({ readonly type: "stopped" } & Failure)
  | { readonly type: "redriven" };

export type Event = Happening & Moment;

/** A child execution that never ran, as the result files of a ResultWriter name it. */
export interface PendingChild {
  readonly executionArn: string;
  readonly name: string;
  readonly input: Json;
}

/** How one child execution of a map run ended; what describes it is told where a ResultWriter or a failure needs it. */
export interface ChildResult extends Failure, Partial<PendingChild> {
  readonly index: number;
  readonly status: Exclude<ExecutionStatus, "RUNNING">;
  readonly output?: Json;
  readonly redriveCount?: number;
  readonly startMs?: number;
  readonly stopMs?: number;
}

export type TaskKind = "lambda" | "activity" | "service";
export type TaskPattern = "requestResponse" | "waitForTaskToken" | "sync";

export interface StartTask {
  readonly type: "startTask";
  readonly task: number;
  /** The branch that waits for it, and the event by which it entered the state: they name this visit of the state. */
  readonly branch: number;
  readonly entry: number;
  /** A handler of the application carries it out (`NextOptions.isOwn`). */
  readonly own?: true;
  readonly stateName: string;
  readonly kind: TaskKind;
  readonly pattern: TaskPattern;
  readonly resource: string;
  readonly input: Json;
  /** 0 at first, then the number of retries so far. */
  readonly attempt: number;
  /** Stands for the token that SendTaskSuccess and its like must show; see `NextOptions.tokenOf`. */
  readonly token: string;
  readonly timeoutSeconds?: number;
  readonly heartbeatSeconds?: number;
  readonly roleArn?: string;
}

/** How many failed children a map run bears: none where neither is given, and no more than either allows. */
export interface Tolerance {
  readonly failureCount?: number;
  readonly failurePercentage?: number;
}

export interface StartMapRun {
  readonly type: "startMapRun";
  readonly mapRun: number;
  readonly arn: string;
  /** `processorOf(machine, stateName)` is what a child runs. */
  readonly stateName: string;
  readonly executionType: ExecutionType;
  /** One child each. */
  readonly inputs: readonly Json[];
  /** Items behind the children; differs from `inputs.length` where items are batched. */
  readonly itemCount: number;
  /** Items of each child, where they are batched. */
  readonly batchSizes?: readonly number[];
  /** 0 = as many as the engine likes. */
  readonly maxConcurrency: number;
  readonly tolerance: Tolerance;
}

/** Runs the children of a map run again that did not succeed, and those that never ran. */
export interface RedriveMapRun {
  readonly type: "redriveMapRun";
  readonly mapRun: number;
  readonly arn: string;
  readonly redriveCount: number;
}

/** What the engine must do, in this order, once the decision is committed. */
export type Command =
  | StartTask
  | { readonly type: "cancelTask"; readonly task: number; readonly branch: number; readonly own?: true }
  | { readonly type: "startTimer"; readonly timer: number; readonly dueMs: number }
  | { readonly type: "cancelTimer"; readonly timer: number }
  | {
      readonly type: "readItems";
      readonly reader: number;
      readonly resource: string;
      readonly parameters: JsonObject;
    }
  | StartMapRun
  | RedriveMapRun
  | { readonly type: "cancelMapRun"; readonly mapRun: number }
  | {
      readonly type: "writeResults";
      readonly mapRun: number;
      readonly bucket: string;
      readonly files: readonly ResultFile[];
    }
  | ({
      readonly type: "end";
      readonly status: Exclude<ExecutionStatus, "RUNNING">;
      readonly output?: Json;
    } & Failure);

export interface ResultFile {
  readonly key: string;
  readonly body: string;
}

/** A history event as GetExecutionHistory gives it, except that `…Details: {truncated: false}` are left to the wire. */
export interface HistoryEvent {
  readonly id: number;
  readonly previousEventId: number;
  /** Seconds since 1970, as on the wire. */
  readonly timestamp: number;
  readonly type: string;
  readonly [details: `${string}EventDetails`]: Readonly<Record<string, unknown>>;
}

/** What a branch waits for. */
export type Wait =
  | { readonly for: "timer"; readonly timer: number; readonly reason: "wait" | "retry" | "turn" }
  | {
      readonly for: "task";
      readonly task: number;
      readonly token: string;
      readonly phase: "scheduled" | "started" | "submitted";
      readonly own?: true;
      /** It has a timeout or a heartbeat. */
      readonly timed?: true;
    }
  | ChildrenWait
  | {
      readonly for: "items";
      readonly reader: number;
      readonly mapRunArn: string;
      /** Parameters of the reads to come; the first is under way. */
      readonly pending: readonly JsonObject[];
      readonly items: readonly Json[];
      /** Set once what was read first has named the files: how they are to be read. */
      readonly files?: ReaderFiles;
    }
  | ({ readonly for: "mapRun"; readonly mapRun: number } & MapRun)
  | ({
      readonly for: "results";
      readonly mapRun: number;
      readonly output: Json;
      /** Why the run failed: its results are written all the same. */
      readonly failure?: Failure;
    } & MapRun);

/** Files that a manifest or a listing named; an inventory's are CSV with these columns. */
export interface ReaderFiles {
  readonly headers?: readonly string[];
}

/** What a branch knows of a map run whose children have begun. */
export interface MapRun {
  readonly mapRunArn: string;
  readonly children: number;
  readonly tolerance: Tolerance;
  readonly redrives?: number;
}

export interface Iteration {
  readonly input: Json;
  /** Kept only where the definition reads the context object. */
  readonly item?: Json;
}

/** A Parallel or an inline Map: its children are branches; results stand at their index. */
export interface ChildrenWait {
  readonly for: "children";
  readonly total: number;
  readonly started: number;
  readonly done: number;
  readonly results: readonly Json[];
  /** Iterations of a Map that have not started. */
  readonly waiting?: readonly Iteration[];
}

/** One line of control: the whole execution (id 0), a branch of a Parallel, an iteration of an inline Map. */
export interface Branch {
  readonly id: number;
  readonly parent?: number | undefined;
  /** Which branch of the Parallel, which item of the Map. */
  readonly index?: number | undefined;
  /** The item of the Map, as the context object shows it. */
  readonly item?: Json | undefined;
  /** The state it is in, and the raw input that state was given. */
  readonly state: string;
  readonly input: Json;
  readonly enteredEventId: number;
  readonly enteredMs: number;
  readonly lastEventId: number;
  /** Only what this scope assigned; outer variables are looked up in the parent. */
  readonly variables?: Readonly<Record<string, Json>> | undefined;
  /** Retries so far of this visit, by retrier. */
  readonly retries?: readonly number[] | undefined;
  readonly wait?: Wait | undefined;
  /** Failed or stopped, and kept for a redrive. */
  readonly halted?: true | undefined;
  /** The map run that failed or was stopped with it. */
  readonly mapRun?: MapRun | undefined;
}

/** Everything that an execution is, to be kept as one text. `next` never changes the state that it is given. */
export interface ExecutionState {
  readonly execution: ExecutionIdentity;
  readonly status: ExecutionStatus;
  /** Kept only where the definition reads the context object. */
  readonly input?: Json;
  /** Id of the latest history event. */
  readonly lastEventId: number;
  /** The latest number given to a branch, task, timer, reader or map run. */
  readonly serial: number;
  /** Bytes of the first data that took more than half of what it may; so that it is told once. */
  readonly nearData?: number | undefined;
  /** Its variables have no more bytes than this: what was assigned since they were last measured. */
  readonly variableBytesMax?: number | undefined;
  /** The timer of the machine's own TimeoutSeconds. */
  readonly timer?: number;
  readonly branches: readonly Branch[];
}

export interface Decision {
  readonly state: ExecutionState;
  readonly events: readonly HistoryEvent[];
  readonly commands: readonly Command[];
}

/** An expression to be evaluated, and all that it may see. Plain data: it can be sent to another process. */
export interface Evaluation {
  readonly expression: string;
  readonly bindings: Readonly<Record<string, unknown>>;
  readonly nowMs: number;
  readonly seed: string;
  /** False where the expression could loop, recurse or backtrack: run it where it can be ended. */
  readonly bounded: boolean;
}

/** Evaluates a JSONata expression; undefined where it yields nothing. A rejection is a States.QueryEvaluationError. */
export type Evaluator = (evaluation: Evaluation) => Promise<unknown>;

export interface NextOptions {
  /** Where expressions are evaluated; by default here, whatever they are. */
  readonly evaluator?: Evaluator;
  /** Whether the application itself carries out the task, by its resource and input. */
  readonly isOwn?: ((resource: string, input: Json) => boolean) | undefined;
  /** The token that $$.Task.Token gives, by what stands for it in state and commands; by default it is that itself. */
  readonly tokenOf?: (reference: string) => string;
  /** False leaves the history out (Express without logging): events are counted but not made. */
  readonly history?: boolean;
}
