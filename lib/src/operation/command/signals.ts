import { metrics, signals, type Reading } from "../../engine/signals.ts";
import type { Runner } from "../../pg/join.ts";
import { countRuns } from "./store.ts";

/** What one-off commands announce, each after its commit. */
export const commandSignals = signals({
  "command.ended": {
    meaning: "A run of a one-off command has left its result.",
    fields: {
      command: "the command",
      operationId: "the run",
      status: "as the result document says",
      exitCode: "its exit code",
      dryRun: "whether nothing of it stays",
      durationMs: "since it was begun",
    },
  },
});

export const commandMetrics = metrics({
  tuntas_command_runs_total: {
    kind: "counter",
    meaning: "Runs of one-off commands by what they came to.",
    labels: ["command", "status"],
    from: [{ signal: "command.ended" }],
    kept: true,
  },
  tuntas_command_duration_seconds: {
    kind: "histogram",
    meaning: "How long runs of one-off commands took.",
    labels: ["command"],
    from: [{ signal: "command.ended" }],
  },
  tuntas_command_runs: {
    kind: "gauge",
    meaning:
      "Applied runs that nobody has closed: `waiting` for approval, `unclosed`, and of both `overdue` for a day, or beyond twice their timeout.",
    labels: ["command", "state"],
    kept: true,
  },
});

export const readCommandGauges = async (sql: Runner): Promise<Reading[]> =>
  (await countRuns(sql)).flatMap(({ command, ...counts }) =>
    (["waiting", "unclosed", "overdue"] as const).map((state) => ({
      name: "tuntas_command_runs",
      labels: { command, state },
      value: counts[state],
    })),
  );
