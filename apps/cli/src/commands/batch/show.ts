import { jobResult, partitionStates, type PartitionReport } from "tuntas/batch";
import type { Command } from "../../command.ts";
import { bold, elapsed, facts, instant, table } from "../../render.ts";
import { resultLine } from "../../result.ts";
import { withPlatform } from "../../session.ts";
import { leftText } from "./report.ts";

const partitionTable = (partitions: readonly PartitionReport[]): string =>
  table(partitions, {
    NUMBER: (each) => each.number,
    KEY: (each) => each.key,
    STATE: (each) => each.state,
    ATTEMPTS: (each) => each.attempts,
    ROWS: (each) => each.rows,
    BEGAN: (each) => instant(each.begunAtMs),
    TOOK: (each) =>
      each.begunAtMs === null || each.endedAtMs === null ? "" : elapsed(each.endedAtMs - each.begunAtMs),
    WHY: (each) => [each.failureCode, each.failureMessage].filter(Boolean).join(": "),
  });

export const batchShow: Command = {
  name: "batch show",
  summary: "Shows a job of a batch: progress, manifest, and its partitions, those that failed first.",
  arguments: [{ name: "JOB", required: true }],
  options: {
    state: {
      value: "STATE",
      meaning: "partitions in this state only: pending, running, done, failed or cancelled",
    },
    limit: { value: "N", meaning: "at most so many partitions; 50 by default" },
  },
  examples: [
    ["tuntas batch show 12", "how far it is, and what failed and why"],
    ["tuntas batch show 12 --state failed --json", "the failed partitions, for a script"],
  ],
  no: "there is no such job",
  run: (call) =>
    withPlatform(async ({ batches }) => {
      const job = await batches.job(call.argument(0));
      const [state, limit] = [call.oneOf("state", partitionStates), call.count("limit", [1, 10_000]) ?? 50];
      const failed = state ? [] : await batches.partitions(job.id, { state: "failed", limit });
      const others = await batches.partitions(job.id, { state, limit });
      const partitions = [...failed, ...others.filter((each) => state || each.state !== "failed")].slice(
        0,
        limit,
      );
      const result = jobResult(job);
      const { total, done, running, pending, cancelled } = job.partitions;
      const head = facts({
        job: job.id,
        batch: job.batch,
        key: job.key,
        input: job.input,
        state: job.state,
        why: job.failure ?? "",
        partitions: `${total}: ${done} done, ${running} running, ${pending} pending, ${job.partitions.failed} failed, ${cancelled} cancelled`,
        rows: String(job.rows),
        left: leftText(job),
        asked: `${instant(job.askedAtMs)} by ${job.actor}: ${job.reason}`,
        ended: instant(job.endedAtMs),
        result: resultLine(result),
        manifest: job.manifest
          ? `${job.manifest.partitions} partitions, ${job.manifest.rows} rows, ${job.manifest.hash}, promoted ${instant(job.manifest.promotedAtMs)}`
          : "",
      });
      return {
        document: { ...job, result: result ?? null, list: partitions },
        text: [head, bold("Partitions"), partitionTable(partitions)].join("\n"),
      };
    }),
};
