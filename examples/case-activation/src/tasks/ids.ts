// What every step gets, which case, and how it moves it. It loads the rest itself, as it is now.
import type { TaskContext } from "tuntas";
import { z } from "zod";
import { transition } from "../store.ts";
import type { TransitionName } from "../transitions.ts";

export const caseIds = z.object({ caseId: z.string().min(1) });
export type CaseIds = z.infer<typeof caseIds>;

interface Move extends CaseIds {
  readonly name: TransitionName;
  readonly reason?: string;
}

/** Moves the case in the step's own transaction, under the step's name, and notes it for the step's line in the log. */
export async function move(ctx: TaskContext, { caseId, name, reason }: Move): Promise<void> {
  const actor = `CaseActivation ${ctx.stateName}`;
  const moved = await transition(
    ctx.tx,
    { caseId, name },
    { actor, ...(reason !== undefined && { reason }) },
  );
  if (moved) ctx.note({ ...moved });
}
