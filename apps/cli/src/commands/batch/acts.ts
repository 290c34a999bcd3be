// What a person does to a job, on the record.
import type { Command } from "../../command.ts";
import { actOf, actOptions, withPlatform } from "../../session.ts";
import { jobTable } from "./report.ts";

type Verb = "pause" | "resume" | "retry" | "cancel";

const act = (
  verb: Verb,
  about: Pick<Command, "summary" | "examples"> & { readonly destructive?: boolean },
): Command => ({
  ...about,
  name: `batch ${verb}`,
  arguments: [{ name: "JOB", required: true }],
  options: actOptions,
  no: "there is no such job, or it is not in a state for this",
  run: (call) =>
    withPlatform(async ({ batches }) => {
      const job = await batches.say(verb, call.argument(0), actOf(call));
      return { document: job, text: jobTable([job]) };
    }),
});

export const batchPause = act("pause", {
  summary: "Begins no more partitions of a job; what runs is finished.",
  examples: [['tuntas batch pause 12 --reason "the month is not closed"', "then `batch resume`"]],
});

export const batchResume = act("resume", {
  summary: "Lets a paused job go on where it was, once it is its turn.",
  examples: [['tuntas batch resume 12 --reason "closed"', "what is done stays done"]],
});

export const batchRetry = act("retry", {
  summary:
    "Tries again what failed of a job: its failed partitions and nothing else, or its plan or promotion.",
  examples: [
    ['tuntas batch retry 12 --reason "the file is repaired"', "partitions that are done are not touched"],
  ],
});

export const batchCancel = act("cancel", {
  summary: "Ends a job: what runs is aborted, nothing is promoted.",
  destructive: true,
  examples: [
    ['tuntas batch cancel 12 --reason "the wrong month" --yes', "its input may then be started again"],
  ],
});
