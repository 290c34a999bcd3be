// Moving a run from one state to another: only where there is such a move, on the record, and fenced by the run's turn.
import { writeAudit } from "../../engine/audit.ts";
import type { Runner } from "../../pg/join.ts";
import type { Act } from "../contract.ts";
import { backfillErrors } from "./contract.ts";
import { mayMove } from "./state.ts";
import { moveRun, type Move, type RunRow } from "./store/runs.ts";

/** Who moves it where no person does. */
const itself: Act = { by: "tuntas", reason: "by itself" };

/** Answers the turn that counts now; undefined where another has moved it meanwhile. Errors: TUNTAS_BACKFILL_STATE. */
export async function moveOn(
  tx: Runner,
  run: Pick<RunRow, "id" | "turn" | "state">,
  move: Move,
  { by, reason }: Act = itself,
): Promise<number | undefined> {
  const { id, state: from } = run;
  const { to, pause, failure } = move;
  if (!mayMove(from, to))
    throw backfillErrors.error("TUNTAS_BACKFILL_STATE", `run ${id} is ${from}: it cannot become ${to}`);
  const turn = await moveRun(tx, run, move);
  if (turn === undefined) return undefined;
  await writeAudit(tx, {
    actor: by,
    action: `backfill.${to}`,
    subject: `run ${id}`,
    reason: failure ?? reason,
    details: { from, pause },
  });
  return turn;
}
