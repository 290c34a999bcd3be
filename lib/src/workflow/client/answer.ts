// Answering a waiting task with the change that it waited for: announced in the change's own transaction, told after its
// commit, and told again until the execution has it. From the announcement on the task cannot time out any more; one that
// has timed out already is not answered, so that nothing is changed that the execution does not hear of.
import type { Failure, Json } from "../../asl/contract.ts";
import type { Target, TargetName } from "../../engine/target.ts";
import { add } from "../../outbox/client.ts";
import type { Sql, Tx } from "../../pg/contract.ts";
import { join, type Transaction } from "../../pg/join.ts";
import { type AnswerResult, workflowErrors } from "../contract.ts";
import type { Answer } from "../remote/contract.ts";
import { isAwaitedElsewhere, isElsewhere } from "../remote/store.ts";
import { answerElsewhere } from "../remote/tell.ts";
import { stopClocksOf } from "../store/calls.ts";

/** What answers waiting tasks by their tokens. */
export interface Answering {
  succeed(token: string, output: Json): Promise<AnswerResult>;
  fail(token: string, failure: Failure): Promise<AnswerResult>;
}

/** The reference is `ctx.tokenReference` of the step that waits. */
export type TaskAnswer = { readonly tokenReference: string } & (
  { readonly output: unknown } | { readonly error: string; readonly cause?: string }
);

const target = { kind: "task", name: "answer" };

/** As it is kept: without what else the caller's object holds. */
const keptOf = (answer: TaskAnswer): Answer =>
  "error" in answer
    ? { error: answer.error, ...(answer.cause !== undefined && { cause: answer.cause }) }
    : { output: (answer.output ?? null) as Json };

/**
 * What a batch names as `announce` so that a step can wait for a job of it: the step's handler starts the job under
 * `key: ctx.tokenReference`, and the job's end ends the step. A job that failed or was cancelled fails it by `BatchFailed` or
 * `BatchCancelled`; a job with another key tells nobody.
 */
export const waitingStep: TargetName = { kind: "task", name: "job" };

/** What a step that waited for a job gets, whose manifest is there by then: `returns: shape<JobDone>()`. */
export interface JobDone {
  readonly batch: string;
  readonly job: string;
  readonly partitions: number;
  /** What was staged, and promoted. */
  readonly rows: number;
}

interface JobEnd extends JobDone {
  readonly key: string;
  readonly state: "completed" | "failed" | "cancelled";
  readonly failure: string | null;
}

function answerOf({ batch, job, key, state, failure, partitions, rows }: JobEnd): TaskAnswer {
  if (state === "completed") return { tokenReference: key, output: { batch, job, partitions, rows } };
  const error = state === "failed" ? "BatchFailed" : "BatchCancelled";
  return { tokenReference: key, error, cause: `job ${job} of ${batch}${failure ? `: ${failure}` : ""}` };
}

/**
 * Answers the task after the commit of this transaction. Call it before the changes that it tells of. Errors:
 * TUNTAS_ANSWER_LATE where the task does not wait any more (the transaction is as it was), TUNTAS_OUTBOX_INVALID.
 */
export async function answerTask(tx: Transaction, answer: TaskAnswer): Promise<void> {
  const runner = join(tx);
  const { tokenReference } = answer;
  if (await isAwaitedElsewhere(runner, tokenReference))
    return void (await answerElsewhere(runner, tokenReference, keptOf(answer)));
  if (!(await stopClocksOf(runner, tokenReference)))
    throw workflowErrors.error(
      "TUNTAS_ANSWER_LATE",
      `expected a task that waits for an answer to ${answer.tokenReference}, but there is none`,
    );
  const type = "error" in answer ? "TaskFailure" : "TaskSuccess";
  await add(tx, { target, key: answer.tokenReference, type, payload: JSON.stringify(answer) });
}

/** Takes such answers. A task that no longer waits has had one, or is over. */
export function answerTarget({
  database,
  answering,
  tokenOf,
}: {
  readonly database: Sql;
  readonly answering: Answering;
  readonly tokenOf: (reference: string) => string;
}): Target {
  return {
    async deliver({ target: { name }, payload }) {
      const told = JSON.parse(payload) as TaskAnswer | JobEnd;
      const answer = name === waitingStep.name ? answerOf(told as JobEnd) : (told as TaskAnswer);
      const { tokenReference } = answer;
      if (await isElsewhere(database, tokenReference)) {
        const tell = (tx: Tx) => answerElsewhere(tx, tokenReference, keptOf(answer));
        return { status: (await database.transaction(tell)) ? "created" : "duplicate" };
      }
      const token = tokenOf(tokenReference);
      const { status } = await ("error" in answer
        ? answering.fail(token, answer)
        : answering.succeed(token, (answer.output ?? null) as Json));
      return { status: status === "accepted" ? "created" : "duplicate" };
    },
  };
}
