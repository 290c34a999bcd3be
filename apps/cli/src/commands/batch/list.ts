import { jobStates } from "tuntas/batch";
import type { Command } from "../../command.ts";
import { bold, table } from "../../render.ts";
import { withPlatform } from "../../session.ts";
import { jobTable } from "./report.ts";

export const batchList: Command = {
  name: "batch list",
  summary:
    "Lists the batches and their jobs, the newest first: how far each is, and what waits for a person.",
  options: {
    batch: { value: "BATCH", meaning: "jobs of this batch only" },
    state: {
      value: "STATE",
      meaning:
        "jobs in this state only: planning, waiting, running, promoting, completed, failed, paused or cancelled",
    },
    limit: { value: "N", meaning: "at most so many jobs; 20 by default" },
  },
  examples: [
    ["tuntas batch list", "what runs, and what has become of the latest jobs"],
    ["tuntas batch list --state failed --json", "for a script: status 1 where a job has failed and waits"],
  ],
  no: "a job has failed and waits for a person",
  run: (call) =>
    withPlatform(async ({ batches }) => {
      const state = call.oneOf("state", jobStates);
      const [all, jobs] = await Promise.all([
        batches.list(),
        batches.jobs({
          batch: call.text("batch"),
          states: state && [state],
          limit: call.count("limit", [1, 1000]) ?? 20,
        }),
      ]);
      const declared = table(all, {
        BATCH: (each) => each.name,
        JOBS: (each) =>
          Object.entries(each.jobs)
            .map(([state, count]) => `${count} ${state}`)
            .join(", "),
        "RUNS ON": (each) => each.runsOn ?? "anywhere",
        STAGING: (each) => each.staging,
        OWNER: (each) => each.owner,
        RUNBOOK: (each) => each.runbook,
      });
      return {
        document: { batches: all, jobs },
        text: [declared, bold("Jobs"), jobTable(jobs)].join("\n"),
        status: all.some((each) => (each.jobs.failed ?? 0) > 0) ? 1 : 0,
      };
    }),
};
