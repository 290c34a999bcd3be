// Machines that run elsewhere, as the application needs them. Whoever brings them (`@tuntas/aws` brings AWS Step Functions)
// speaks to the other service, and to nothing else; their tasks come by a queue that lives there too (queue/remote).
import type { Failure, Json } from "../../asl/contract.ts";
import type { ExecutionStatus } from "../contract.ts";

/** What a message of a machine's task queue says. */
export interface TaskMessage {
  readonly task: string;
  readonly token: string;
  /** The effective input of the state; of `lambda:invoke` with its FunctionName and Payload. */
  readonly input: Json;
  /** The result is to look like that of `lambda:invoke`. */
  readonly invoke: boolean;
  /** The state waits for somebody else's answer when the handler has returned. */
  readonly waits: boolean;
  readonly execution: string;
  readonly executionName: string;
  readonly startedAt: string;
  readonly state: string;
  readonly enteredAt: string;
  readonly retries: number;
  readonly redrives: number;
  /** Its place among the items of the Map that it stands in; -1 where that is not told. */
  readonly item: number;
  /** From the sending of the message on. */
  readonly timeoutSeconds: number;
  /** 0 where the state has none. */
  readonly heartbeatSeconds: number;
}

export type Answer = { readonly output: Json } | (Failure & { readonly final?: boolean });

/** `closed`: it waits no longer (timed out, stopped), or has had this answer before, whose confirmation was lost. */
export type AnswerFate = "accepted" | "closed";

export interface RemoteStart {
  readonly name: string;
  readonly input: string;
  readonly traceHeader?: string | undefined;
}

/** An execution as the other service tells of it. */
export interface RemoteExecution extends Failure {
  readonly arn: string;
  readonly name: string;
  readonly machineArn: string;
  readonly versionArn: string | null;
  readonly aliasArn: string | null;
  readonly traceHeader: string | null;
  readonly mapRunArn: string | null;
  readonly status: ExecutionStatus | "PENDING_REDRIVE";
  readonly input: string;
  readonly output: string | null;
  readonly startedAtMs: number;
  readonly stoppedAtMs: number | null;
  readonly redriveCount: number;
  readonly redrivenAtMs: number | null;
}

/**
 * The machines of declared workflows, by name. What is called is tried again within. Errors: TUNTAS_MACHINE_UNREACHABLE,
 * TUNTAS_MACHINE_REFUSED, TUNTAS_WORKFLOW_MISSING.
 */
export interface OpenMachines {
  /** `taken`: the name belongs to an execution that has ended or has another input. */
  start(
    workflow: string,
    start: RemoteStart,
  ): Promise<{ status: "started" | "taken"; arn: string; startedAtMs: number }>;
  find(arn: string): Promise<RemoteExecution | undefined>;
  /** False where it had ended. */
  stop(arn: string, failure: Failure): Promise<boolean>;
  /** The ARN that an execution of that name has. */
  arnOf(workflow: string, execution: string): Promise<string>;
  answer(token: string, answer: Answer): Promise<AnswerFate>;
  heartbeat(token: string): Promise<AnswerFate>;
  close(): Promise<void>;
}

/** Where declared workflows run, if not in this database. */
export interface MachineService {
  open(): Promise<OpenMachines>;
}
