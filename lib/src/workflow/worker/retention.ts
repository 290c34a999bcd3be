// Forgets executions that ended long ago.
import { inBatches } from "../../engine/chore.ts";
import { toMs, type Duration } from "../../core/duration.ts";
import type { Sql } from "../../pg/contract.ts";
import { workflowSignals } from "../signals.ts";
import { forgetTasks } from "../remote/store.ts";
import { removeEnded } from "../store/retention.ts";

export interface Retention {
  /** Removes what is over, if it is time. */
  sweep(): Promise<void>;
}

const retentionDefault = "90d";
const batch = 500;
// Less than the minute between two sweeps, so that each of them removes, and those after some trouble do not.
const periodMs = 50_000;

/** As long as Step Functions keeps them, unless TUNTAS_WORKFLOW_RETENTION says otherwise. */
export function makeRetention(database: Pick<Sql, "run">, given: string | undefined): Retention {
  const retentionMs = toMs((given || retentionDefault) as Duration, "TUNTAS_WORKFLOW_RETENTION");
  let cursor = "0";
  let dueAtMs = 0;
  /** Answers how many of a batch it has looked at: none where everything further on is young. */
  async function removeNext(): Promise<number> {
    const found = await removeEnded(database, { cursor, retentionMs, limit: batch });
    cursor = found.cursor ?? "0";
    if (found.removed > 0) workflowSignals.publish("workflow.forgotten", { count: found.removed });
    return found.cursor === null ? 0 : batch;
  }

  return {
    async sweep() {
      if (performance.now() < dueAtMs) return;
      dueAtMs = performance.now() + periodMs;
      await inBatches(batch, removeNext);
      await inBatches(batch, () => forgetTasks(database, batch));
    },
  };
}
