// What a person says to a run of a backfill, on the record. What somebody's application has to do first is waited for.
import type { RunReport, RunState } from "tuntas/batch";
import type { Answer, Call, Command, OptionSpec } from "../../command.ts";
import { actOf, actOptions, withPlatform } from "../../session.ts";
import { runTable } from "./report.ts";

type Verb = "dry-run" | "approve" | "start" | "pause" | "resume" | "abort" | "verify" | "rollback";

export const waitOptions: Readonly<Record<string, OptionSpec>> = {
  wait: { value: "SECONDS", meaning: "how long to wait for the application that does it; 60 by default" },
};

export const waitOf = (call: Call): AbortSignal =>
  AbortSignal.timeout((call.count("wait", [1, 86_400]) ?? 60) * 1000);

export const answerOf = (run: RunReport, wanted?: RunState): Answer => ({
  document: run,
  text: runTable([run]),
  status: wanted === undefined || run.state === wanted ? 0 : 1,
});

interface About extends Pick<Command, "summary" | "examples" | "no"> {
  readonly destructive?: boolean;
  /** The state that it waits for; another one is a no. */
  readonly until?: RunState;
}

const act = (verb: Verb, { until, ...about }: About): Command => ({
  no: "there is no such run, or it is not in a state for this",
  ...about,
  name: `backfill ${verb}`,
  arguments: [{ name: "RUN", required: true }],
  options: until ? { ...actOptions, ...waitOptions } : actOptions,
  run: (call) =>
    withPlatform(async ({ backfills }) => {
      const run = await backfills.say(verb, call.argument(0), actOf(call));
      return answerOf(until ? await backfills.settled(run.id, waitOf(call)) : run, until);
    }),
});

export const backfillActs: readonly Command[] = [
  act("dry-run", {
    summary:
      "Tries a planned run out with some of its records, takes everything back, and keeps what it found.",
    examples: [
      ['tuntas backfill dry-run 12 --reason "see ticket 7"', "then `backfill show 12`, then an approval"],
    ],
    until: "sampled",
    no: "it could not be tried out, or not in time",
  }),
  act("approve", {
    summary: "Lets a run begin that was tried out; by another person than the one who planned it.",
    examples: [['tuntas backfill approve 12 --reason "the changes are right"', "the run may be started"]],
  }),
  act("start", {
    summary: "Begins an approved run.",
    examples: [['tuntas backfill start 12 --reason "it is Friday night"', "one run of a backfill at a time"]],
    no: "there is no such run, it is not approved, or another run of its backfill is running",
  }),
  act("pause", {
    summary: "Lets a run rest at its checkpoints: what is under way is finished, nothing more is begun.",
    examples: [['tuntas backfill pause 12 --reason "the shop is slow"', "then `backfill resume`"]],
  }),
  act("resume", {
    summary: "Lets a paused run go on at its checkpoints.",
    examples: [['tuntas backfill resume 12 --reason "it was not us"', "what is done stays done"]],
  }),
  act("abort", {
    summary: "Ends a run; what is done stays done, what is under way is taken back.",
    destructive: true,
    examples: [
      ['tuntas backfill abort 12 --reason "the wrong tenant" --yes', "its scope may be planned again"],
    ],
  }),
  act("verify", {
    summary: "Verifies a run again that is through and was found wrong.",
    examples: [
      ['tuntas backfill verify 12 --reason "the three are mended"', "completes it where nothing is wrong"],
    ],
    until: "completed",
    no: "something is still wrong, or it is not through",
  }),
  act("rollback", {
    summary: "Undoes a run that has ended, record by record, from its beginning to its checkpoints.",
    destructive: true,
    examples: [
      ['tuntas backfill rollback 12 --reason "the fee was right" --yes', "where the backfill declares how"],
    ],
  }),
];
