// What a person does to a consumer, on the record.
import type { RewindTo } from "tuntas/stream";
import type { Call, Command } from "../../command.ts";
import { plural } from "../../render.ts";
import { actOf, actOptions, withPlatform } from "../../session.ts";

const names = [
  { name: "STREAM", required: true },
  { name: "CONSUMER", required: true },
] as const;
const nameOf = (call: Call) => ({ stream: call.argument(0), consumer: call.argument(1) });
const whole = (call: Call) => `${call.argument(0)} ${call.argument(1)}`;
const no = "there is no such stream or consumer";

function placeOf(call: Call): RewindTo {
  const to = call.required("to");
  const partition = call.count("partition", [0, 255]);
  if (to === "start" || to === "end") return { to };
  if (/^\d+$/.test(to)) {
    if (partition === undefined) throw call.wrong("--to: an offset is one of a partition; say --partition N");
    return { offset: Number(to), partition };
  }
  const instantMs = Date.parse(to);
  if (Number.isNaN(instantMs))
    throw call.wrong(
      `--to: expected start, end, an offset or an instant such as 2026-11-28T19:00:00Z, got ${to}`,
    );
  return { instantMs };
}

export const streamRewind: Command = {
  name: "stream rewind",
  summary: "Has a consumer read on from elsewhere: what it handles at this moment commits nothing.",
  arguments: names,
  options: {
    to: { value: "PLACE", meaning: "start, end, an instant, or an offset of a partition" },
    partition: { value: "N", meaning: "the partition of the offset" },
    ...actOptions,
  },
  examples: [
    [
      'tuntas stream rewind order-events totals --to start --reason "the sum was wrong"',
      "handlers see each record again; its id keeps an effect single",
    ],
    [
      'tuntas stream rewind order-events totals --to 2026-11-28T19:00:00Z --reason "the release of Friday"',
      "everything since then",
    ],
    [
      'tuntas stream rewind order-events totals --to 1200 --partition 3 --reason "see ticket 7"',
      "one partition",
    ],
  ],
  no: "there is no such stream or consumer, or the offset is not kept",
  run(call) {
    const [to, act] = [placeOf(call), actOf(call)];
    return withPlatform(async ({ streams }) => {
      await streams.rewind(nameOf(call), to, act);
      return { document: { status: "rewound", ...nameOf(call), to }, text: `rewound ${whole(call)}` };
    });
  },
};

export const streamResume: Command = {
  name: "stream resume",
  summary: "Has the partitions tried again that a consumer has stopped at a bad record.",
  arguments: names,
  options: actOptions,
  examples: [
    [
      'tuntas stream resume order-events totals --reason "the fix is deployed"',
      "it begins with the bad record",
    ],
  ],
  no: "no partition had stopped",
  run(call) {
    const act = actOf(call);
    return withPlatform(async ({ streams }) => {
      const partitions = await streams.resume(nameOf(call), act);
      return {
        document: { status: "resumed", ...nameOf(call), partitions },
        text: `resumed ${plural(partitions.length, "partition")} of ${whole(call)}`,
        status: partitions.length === 0 ? 1 : 0,
      };
    });
  },
};

export const streamForget: Command = {
  name: "stream forget",
  summary:
    "Forgets a consumer that no code declares any more, with its checkpoints and what it has parked; frees the name of one that was replaced.",
  arguments: names,
  options: actOptions,
  destructive: true,
  examples: [
    [
      'tuntas stream forget order-events totals-1 --reason "replaced by totals-2" --yes',
      "records are no longer kept for it",
    ],
  ],
  no,
  run(call) {
    const act = actOf(call);
    return withPlatform(async ({ streams }) => {
      await streams.forget(nameOf(call), act);
      return { document: { status: "forgotten", ...nameOf(call) }, text: `forgot ${whole(call)}` };
    });
  },
};
