// Forgets executions that ended long ago, a bounded number at a time.
import { toMs, type Duration } from "../../core/duration.ts";
import type { Sql } from "../../pg/contract.ts";
import { workflowSignals } from "../signals.ts";
import { removeEnded } from "../store/retention.ts";

export interface Retention {
  /** Looks at the next few, if it is time. */
  sweep(): Promise<void>;
}

const retentionDefault = "90d";
const batch = 500;
const periodMs = 60_000;

/** As long as Step Functions keeps them, unless TUNTAS_WORKFLOW_RETENTION says otherwise. */
export function makeRetention(database: Pick<Sql, "run">, given: string | undefined): Retention {
  const retentionMs = toMs((given || retentionDefault) as Duration, "TUNTAS_WORKFLOW_RETENTION");
  let cursor = "0";
  let dueAtMs = 0;
  return {
    async sweep() {
      if (performance.now() < dueAtMs) return;
      const found = await removeEnded(database, { cursor, retentionMs, limit: batch });
      cursor = found.cursor ?? "0";
      dueAtMs = found.cursor === null ? performance.now() + periodMs : 0;
      if (found.removed > 0) workflowSignals.publish("workflow.forgotten", { count: found.removed });
    },
  };
}
