import {
  runResult,
  type BackfillPartitionReport,
  type BackfillReport,
  type RunReport,
  type Sample,
} from "tuntas/batch";
import type { Command } from "../../command.ts";
import { bold, elapsed, facts, instant, table } from "../../render.ts";
import { resultLine } from "../../result.ts";
import { withPlatform } from "../../session.ts";
import { windowText } from "./list.ts";
import { leftText, rateText } from "./report.ts";

const headOf = (run: RunReport, { policy, window, owner, runbook }: BackfillReport): string =>
  facts({
    run: run.id,
    backfill: run.backfill,
    scope: run.scope,
    state: run.pause === null ? run.state : `${run.state} (${run.pause})`,
    why: run.failure ?? "",
    records: `${run.read} of ${run.records}: ${run.handled} handled, ${run.final} final and left alone, ${run.failed} failed`,
    "kept back": `${run.suppressed} announcements`,
    partitions: `${run.partitions.ended} of ${run.partitions.total} through`,
    rate: rateText(run),
    left: leftText(run),
    window: windowText(window),
    "aborted at": `${policy.errorShare * 100} % failed, or downstreams over ${policy.abortAbove}`,
    rollback: `${policy.rollback}${policy.undo ? " (by `backfill rollback`)" : ""}`,
    asked: `${instant(run.askedAtMs)} by ${run.actor}: ${run.reason}`,
    approved: run.approvedBy ?? "",
    begun: instant(run.begunAtMs),
    ended: instant(run.endedAtMs),
    result: resultLine(runResult(run)),
    owner,
    runbook,
  });

const sampleText = ({ handled, final, failed, suppressed, tookMs, changes, atMs }: Sample): string =>
  [
    `${instant(atMs)}: ${handled} handled, ${final} final, ${failed} failed, ${suppressed} announcements, in ${elapsed(tookMs)}`,
    table(changes, {
      RECORD: (each) => each.record,
      BEFORE: (each) => JSON.stringify(each.before),
      AFTER: (each) => JSON.stringify(each.after),
    }),
  ].join("\n");

const partitionTable = (partitions: readonly BackfillPartitionReport[]): string =>
  table(partitions, {
    NUMBER: (each) => each.number,
    KEY: (each) => each.key,
    READ: (each) => `${each.read} of ${each.records}`,
    CHECKPOINT: (each) => each.checkpoint?.join(" "),
    THROUGH: (each) => (each.ended ? "yes" : ""),
  });

export const backfillShow: Command = {
  name: "backfill show",
  summary:
    "Shows a run of a backfill: its dry run, how far and how fast it is, its partitions, and what failed.",
  arguments: [{ name: "RUN", required: true }],
  options: { limit: { value: "N", meaning: "at most so many partitions and failures; 20 by default" } },
  examples: [
    ["tuntas backfill show 12", "what to look at before an approval, and while it runs"],
    ["tuntas backfill show 12 --limit 1000 --json", "all failures, for a script"],
  ],
  no: "there is no such run",
  run: (call) =>
    withPlatform(async ({ backfills }) => {
      const run = await backfills.run(call.argument(0));
      const limit = call.count("limit", [1, 10_000]) ?? 20;
      const [all, partitions, failures] = await Promise.all([
        backfills.list(),
        backfills.partitions(run.id, limit),
        backfills.failures(run.id, limit),
      ]);
      const failed = table(run.sample && run.begunAtMs === null ? run.sample.failures : failures, {
        RECORD: (each) => each.record,
        CODE: (each) => each.code,
        MESSAGE: (each) => each.message,
      });
      const text = [
        headOf(
          run,
          all.find(({ name }) => name === run.backfill)!,
        ),
        ...(run.sample ? [bold("Dry run"), sampleText(run.sample)] : []),
        bold("Partitions"),
        partitionTable(partitions),
        bold("Failures"),
        failed,
      ];
      return {
        document: { ...run, result: runResult(run) ?? null, list: partitions, failures },
        text: text.join("\n"),
      };
    }),
};
