import type { Call, Command } from "../../command.ts";
import { instant, plural, table } from "../../render.ts";
import { actOf, actOptions, withPlatform } from "../../session.ts";

export const streamParked: Command = {
  name: "stream parked",
  summary:
    "Lists the records that consumers of a stream have gone past without handling them, the latest first.",
  arguments: [{ name: "STREAM", required: true }],
  options: {
    consumer: { value: "NAME", meaning: "of one consumer" },
    limit: { value: "N", meaning: "at most so many; 100 by default" },
  },
  examples: [["tuntas stream parked order-events", "which records, of which key, and why"]],
  no: "something is parked",
  run: (call) =>
    withPlatform(async ({ streams }) => {
      const consumer = call.text("consumer");
      const limit = call.count("limit", [1, 10_000]) ?? 100;
      const all = await streams.parked(call.argument(0), {
        limit,
        ...(consumer !== undefined && { consumer }),
      });
      const text = table(all, {
        ID: (each) => each.id,
        CONSUMER: (each) => each.consumer,
        PARTITION: (each) => each.partition,
        OFFSET: (each) => each.offset,
        KEY: (each) => each.key,
        FAILURES: (each) => each.attempts,
        PARKED: (each) => instant(each.parkedAtMs),
        STANDS: (each) => (each.replaying ? "replaying" : "parked"),
        CODE: (each) => each.code,
        WHY: (each) => each.reason,
      });
      return {
        document: all,
        text: all.length === 0 ? "nothing is parked" : text,
        status: all.length === 0 ? 0 : 1,
      };
    }),
};

const choice = {
  arguments: [
    { name: "STREAM", required: true },
    { name: "CONSUMER", required: true },
    { name: "ID", required: false, many: true },
  ],
  options: { all: { meaning: "everything that the consumer has parked" }, ...actOptions },
  no: "nothing was parked",
} as const;

function chosen(call: Call) {
  const [stream, consumer] = [call.argument(0), call.argument(1)];
  const ids = call.positionals.slice(2).map((_, index) => call.rowId(index + 2));
  if (ids.length === 0 && !call.flag("all")) throw call.wrong("say which (ID), or --all");
  return { stream, consumer, ...(ids.length > 0 && { ids }) };
}

const answerOf = (status: string, ids: readonly string[]) => ({
  document: { status, ids },
  text: `${status} ${plural(ids.length, "record")}`,
  status: ids.length === 0 ? (1 as const) : (0 as const),
});

export const streamReplay: Command = {
  ...choice,
  name: "stream replay",
  summary: "Has parked records handled again, each once, by the process that reads their partition.",
  examples: [
    ['tuntas stream replay order-events totals 17 18 --reason "the fix is deployed"', "these two"],
    ['tuntas stream replay order-events totals --all --reason "the fix is deployed"', "all of them"],
  ],
  run(call) {
    const [of, act] = [chosen(call), actOf(call)];
    return withPlatform(async ({ streams }) => answerOf("replaying", await streams.replay(of, act)));
  },
};

export const streamDiscard: Command = {
  ...choice,
  name: "stream discard",
  summary: "Removes parked records for good: nobody will handle them.",
  destructive: true,
  examples: [
    ['tuntas stream discard order-events totals 17 --reason "a test order" --yes', "the act stays on record"],
  ],
  run(call) {
    const [of, act] = [chosen(call), actOf(call)];
    return withPlatform(async ({ streams }) => answerOf("discarded", await streams.discard(of, act)));
  },
};
