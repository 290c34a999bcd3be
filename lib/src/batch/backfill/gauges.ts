// What the backfills are like at this moment, for charts and alarms.
import type { Reading } from "../../engine/signals.ts";
import type { Runner } from "../../pg/join.ts";
import { runStates, type RunReport } from "./contract.ts";
import { readBackfills } from "./store/backfills.ts";
import { readRuns } from "./store/runs.ts";

const openStates = runStates.filter((state) => !["completed", "aborted", "rolled_back"].includes(state));
const begunStates = ["running", "paused", "verifying", "rolling_back"];

/** Trouble has paused it, or it was aborted and nothing has been done about that since. */
const isStopped = (run: RunReport, latest: RunReport | undefined): boolean =>
  run.pause === "trouble" || (run.state === "aborted" && run.failure !== null && run === latest);

export async function readBackfillGauges(sql: Runner): Promise<Reading[]> {
  const all = await readBackfills(sql, null);
  if (all.length === 0) return [];
  const runs = await readRuns(sql, { limit: 1000 });
  return all.flatMap(({ name }) => {
    const own = runs.filter(({ backfill }) => backfill === name);
    const reading = (metric: string, value: number, labels = {}): Reading => ({
      name: `tuntas_backfill_${metric}`,
      labels: { backfill: name, ...labels },
      value,
    });
    const count = (of: (run: RunReport) => boolean) => own.filter(of).length;
    const begun = own.find(({ state }) => begunStates.includes(state));
    const isRunning = begun?.state === "running";
    return [
      ...openStates.map((state) =>
        reading(
          "runs",
          count((run) => run.state === state),
          { state },
        ),
      ),
      reading(
        "runs",
        count((run) => isStopped(run, own[0])),
        { state: "stopped" },
      ),
      ...(begun ? [reading("progress_ratio", begun.records === 0 ? 1 : begun.read / begun.records)] : []),
      ...(isRunning
        ? [reading("left_seconds", (begun.leftMs ?? 0) / 1000), reading("pace_ratio", begun.pace)]
        : []),
    ];
  });
}
