// Telling a machine elsewhere what its task came to. The outbox calls this after the commit of that, and again until the machine
// has taken it or says that it does not wait; either is on record, and the second is told aloud.
import type { Log } from "../../engine/log.ts";
import type { Target, TargetName } from "../../engine/target.ts";
import { add } from "../../outbox/client.ts";
import type { Runner } from "../../pg/join.ts";
import type { Sql } from "../../pg/contract.ts";
import { approvalSignals } from "../approval/signals.ts";
import { workflowSignals } from "../signals.ts";
import type { Answer, AnswerFate, OpenMachines } from "./contract.ts";
import { decideTask, findUntold, markAnswered, type Told } from "./store.ts";

/** A kind of its own: only a process that has the workflow's machines takes it. */
const answerKind = "remote-answer";
export const answerTargetOf = (workflow: string): TargetName => ({ kind: answerKind, name: workflow });

/** What has waited for somebody's answer has it, with this transaction; false where it has one already. */
export async function answerElsewhere(tx: Runner, reference: string, answer: Answer): Promise<boolean> {
  const workflow = await decideTask(tx, reference, answer);
  if (workflow === undefined) return false;
  const payload = JSON.stringify({ reference });
  await add(tx, { target: answerTargetOf(workflow), key: reference, payload });
  return true;
}

export interface TellParts {
  readonly database: Sql;
  readonly machines: Pick<OpenMachines, "answer">;
  readonly unseal: (token: Buffer) => string;
  readonly log: Log;
}

function tellOf({ log }: TellParts, { workflow, state, executionArn: arn }: Told, fate: AnswerFate): void {
  workflowSignals.publish("workflow.answered", { workflow, state, arn, fate });
  if (fate === "closed")
    log.warn(
      { workflow, state, arn },
      "an answer was not taken: its execution does not wait for it any more",
    );
}

export function answerTarget(parts: TellParts): Target {
  const { database, machines, unseal } = parts;
  return {
    async deliver({ key }) {
      const reference = key!;
      const told = await findUntold(database, reference);
      if (!told) return { status: "duplicate" };
      const fate = await machines.answer(unseal(told.token), told.answer);
      const approval = await markAnswered(database, reference, fate);
      tellOf(parts, told, fate);
      if (approval) approvalSignals.publish("approval.told", { ...approval, taken: fate === "accepted" });
      return { status: fate === "accepted" ? "created" : "duplicate", reference: told.executionArn };
    },
  };
}
