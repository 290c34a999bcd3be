import { durationText } from "tuntas";
import type { ConsumerReport, StreamReport } from "tuntas/stream";
import type { Command } from "../../command.ts";
import { bold, elapsed, facts, instant, table } from "../../render.ts";
import { withPlatform } from "../../session.ts";
import { standingOf } from "./list.ts";

const consumerText = (consumer: ConsumerReport): string =>
  [
    bold(`Consumer ${consumer.name}: ${standingOf(consumer)}`),
    table(consumer.partitions, {
      PARTITION: (each) => each.partition,
      "NEXT OFFSET": (each) => each.nextOffset,
      LAG: (each) => each.lag,
      "LAG TIME": (each) => elapsed(each.lagMs),
      "READ BY": (each) => each.owner,
      FAILURES: (each) => each.attempts || "",
      STOPPED: (each) => instant(each.stoppedAtMs),
      WHY: (each) => each.reason,
    }),
  ].join("\n");

const offsetsText = ({ offsets }: StreamReport): string =>
  table(
    offsets.map((each, partition) => ({ ...each, partition })),
    {
      PARTITION: (each) => each.partition,
      "OLDEST OFFSET": (each) => each.first,
      "NEXT OFFSET": (each) => each.next,
    },
  );

export const streamShow: Command = {
  name: "stream show",
  summary: "Shows a stream: what is kept of each partition, and how far each consumer has read it.",
  arguments: [{ name: "STREAM", required: true }],
  examples: [["tuntas stream show order-events", "which partition is behind, who reads it, why it stands"]],
  no: "there is no such stream",
  run: (call) =>
    withPlatform(async ({ streams }) => {
      const report = await streams.find(call.argument(0));
      const head = facts({
        stream: report.name,
        key: report.key,
        records: report.records,
        retention: durationText(report.retentionMs),
        owner: report.owner,
        runbook: report.runbook,
      });
      const parts = [head, bold("Partitions"), offsetsText(report), ...report.consumers.map(consumerText)];
      return { document: report, text: parts.join("\n") };
    }),
};
