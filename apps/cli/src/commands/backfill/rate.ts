import type { Command } from "../../command.ts";
import { actOf, actOptions, withPlatform } from "../../session.ts";
import { answerOf } from "./acts.ts";

export const backfillRate: Command = {
  name: "backfill rate",
  summary: "Turns a run down, or up again to what its backfill declares.",
  arguments: [{ name: "RUN", required: true }],
  options: { "per-second": { value: "N", meaning: "records a second (required)" }, ...actOptions },
  examples: [
    ['tuntas backfill rate 12 --per-second 200 --reason "the shop is slow"', "from the next slice on"],
  ],
  no: "there is no such run, it is over, or the backfill declares less",
  run(call) {
    call.required("per-second");
    const perSecond = call.count("per-second")!;
    return withPlatform(async ({ backfills }) =>
      answerOf(await backfills.setRate(call.argument(0), perSecond, actOf(call))),
    );
  },
};
