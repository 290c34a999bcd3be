import { listRegistered, listRuns } from "tuntas/ledger";
import type { Command } from "../../command.ts";
import { elapsed, instant, table } from "../../render.ts";
import { withPlatform } from "../../session.ts";

export const reconcileList: Command = {
  name: "reconcile list",
  summary:
    "Lists the reconciliations that applications have registered: what each compares, when it ran, what it found.",
  options: {
    runs: { value: "NAME", meaning: "the last runs of this one instead" },
    limit: { value: "N", meaning: "at most so many runs; 20 by default" },
  },
  examples: [
    ["tuntas reconcile list", "is anything not compared any more?"],
    ["tuntas reconcile list --runs cases-started --json", "how one went lately"],
  ],
  no: "one has failed, is overdue, or has found something that stands",
  run: (call) =>
    withPlatform(async ({ database }) => {
      const name = call.text("runs");
      if (name !== undefined) {
        const runs = await listRuns(database, name, call.count("limit", [1, 1000]) ?? 20);
        const text = table(runs, {
          id: (run) => run.id,
          ended: (run) => instant(run.endedAtMs),
          took: (run) => elapsed(run.durationMs),
          compared: (run) => run.compared,
          found: (run) => run.found,
        });
        return { document: runs, text };
      }
      const rows = await listRegistered(database);
      const text = table(rows, {
        name: (row) => row.name,
        of: (row) => `${row.ofKind} ${row.ofName}`,
        owner: (row) => row.owner,
        every: (row) => (row.everyMs === null ? "on demand" : elapsed(row.everyMs)),
        "next in": (row) => elapsed(row.nextMs),
        last: (row) => instant(row.lastRunAtMs),
        compared: (row) => row.compared,
        found: (row) => row.found,
        standing: (row) => row.standing,
        failure: (row) => row.failureCode,
      });
      const wrong = rows.some(
        (row) => row.failureCode !== null || row.standing > 0 || (row.nextMs ?? 0) < -60_000,
      );
      return { document: rows, text, status: wrong ? 1 : 0 };
    }),
};
