import type { ConsumerReport, StreamReport } from "tuntas/stream";
import type { Command } from "../../command.ts";
import { elapsed, table } from "../../render.ts";
import { withPlatform } from "../../session.ts";

/** How a consumer stands, in a word. */
export function standingOf({ behind, partitions }: ConsumerReport): string {
  const stopped = partitions.some(({ stoppedAtMs }) => stoppedAtMs !== null);
  return stopped ? "stopped" : behind ? "behind" : "on";
}

interface Row {
  readonly stream: StreamReport;
  readonly consumer: ConsumerReport | undefined;
}

const rowsOf = (stream: StreamReport): Row[] =>
  stream.consumers.length === 0
    ? [{ stream, consumer: undefined }]
    : stream.consumers.map((consumer) => ({ stream, consumer }));

export const streamList: Command = {
  name: "stream list",
  summary: "Lists the streams and their consumers: how far behind each is, what is parked, who reads.",
  examples: [
    ["tuntas stream list", "how everything stands, with its owner"],
    ["tuntas stream list --json", "for a script: status 1 where a consumer is behind or has stopped"],
  ],
  no: "a consumer is behind, or has stopped at a bad record",
  run: () =>
    withPlatform(async ({ streams }) => {
      const all = await streams.list();
      const text = table(all.flatMap(rowsOf), {
        STREAM: ({ stream }) => stream.name,
        PARTITIONS: ({ stream }) => stream.partitions,
        RECORDS: ({ stream }) => stream.records,
        CONSUMER: ({ consumer }) => consumer?.name,
        STANDS: ({ consumer }) => consumer && standingOf(consumer),
        LAG: ({ consumer }) => consumer?.lag,
        "LAG TIME": ({ consumer }) => (consumer ? elapsed(consumer.lagMs) : ""),
        PARKED: ({ consumer }) => consumer?.parked,
        PROCESSES: ({ consumer }) => consumer?.members,
        OWNER: ({ stream }) => stream.owner,
      });
      const ill = all.some(({ consumers }) => consumers.some((each) => standingOf(each) !== "on"));
      return { document: all, text, status: ill ? 1 : 0 };
    }),
};
