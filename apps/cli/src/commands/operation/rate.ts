import type { Command } from "../../command.ts";
import { actorOf, actorOption, withPlatform } from "../../session.ts";
import { answerOf } from "./report.ts";

export const operationRate: Command = {
  name: "operation rate",
  summary: "Changes how fast an operation goes, while it runs.",
  arguments: [{ name: "ID", required: true }],
  options: {
    "per-second": {
      value: "N",
      meaning: "at most so many a second; as fast as it goes where it is not given",
    },
    reason: { value: "TEXT", meaning: "why, for the record (required)" },
    ...actorOption,
  },
  examples: [
    ['tuntas operation rate 12 --per-second 5 --reason "the partner is slow"', "from the next slice on"],
  ],
  no: "there is none, or it has ended",
  run(call) {
    const act = { actor: actorOf(call), reason: call.required("reason") };
    const perSecond = call.count("per-second") ?? null;
    return withPlatform(async ({ operations }) => ({
      ...answerOf(await operations.setRate(call.argument(0), perSecond, act)),
      status: 0,
    }));
  },
};
