// Declaring an approval: a task of a workflow that asks people. The state that calls it must wait for a task token.
import type { InputOf, OutputOf, Schema } from "../../core/schema.ts";
import { unknownOptions, type NamesOf } from "../../core/options.ts";
import { task, type TaskContext, type TaskDefinition } from "../declaration.ts";
import { hashToken } from "../token.ts";
import type { DecidedHook, NewApproval } from "./contract.ts";
import { approvalErrors } from "./contract.ts";
import { requestApproval } from "./request.ts";

/** What is asked; where it comes from is known. */
export type Question = Omit<NewApproval, "workflow" | "task" | "executionArn" | "tokenReference" | "guarded">;

export interface ApprovalOptions<S extends Schema = Schema> {
  /** What the state hands over: any Standard Schema. */
  readonly input?: S;
  /** What is asked, of whom, until when. What it writes through `ctx.tx` commits with the request. */
  readonly request: (input: OutputOf<S>, context: TaskContext) => Promise<Question> | Question;
  /** The domain's change, in the deciding transaction. With it only processes that run the application can decide. */
  readonly decided?: DecidedHook;
}

const optionNames: NamesOf<ApprovalOptions> = { input: true, request: true, decided: true };

/**
 * The task's output, once it is decided: `{approvalId, decision: "APPROVED" | "REJECTED", decidedBy, decidedAt, reason}`.
 * It fails by States.Timeout where nobody decided in time, by ApprovalWithdrawn where it was withdrawn.
 * Errors: TUNTAS_APPROVAL_INVALID.
 */
export function approval<S extends Schema<any, any> = Schema<any>>(
  options: ApprovalOptions<S>,
): TaskDefinition<InputOf<S>, undefined> {
  for (const finding of unknownOptions(options, optionNames))
    throw approvalErrors.error("TUNTAS_APPROVAL_INVALID", `approval: ${finding}`);
  const { input, request, decided } = options;
  async function handle(given: OutputOf<S>, context: TaskContext): Promise<undefined> {
    const { tx, taskToken, tokenReference, workflowName, stateName, execution } = context;
    if (taskToken === undefined || tokenReference === undefined)
      throw approvalErrors.error(
        "TUNTAS_APPROVAL_INVALID",
        `state ${stateName}: expected a Resource that ends with .waitForTaskToken, for an approval to answer`,
      );
    const question = await request(given, context);
    const asked: NewApproval = {
      ...question,
      workflow: workflowName,
      task: stateName,
      executionArn: execution.arn,
      tokenReference,
      guarded: decided !== undefined,
    };
    await requestApproval(tx, asked, hashToken(taskToken));
    return undefined;
  }
  return { ...task({ idempotent: true, ...(input && { input }), handle }), decided };
}
