// What a person can say to an operation: one command a word.
import type { Verb } from "tuntas/operation";
import type { Command } from "../../command.ts";
import { actorOf, actorOption, withPlatform } from "../../session.ts";
import { answerOf } from "./report.ts";

interface Word {
  readonly verb: Verb;
  readonly summary: string;
  readonly why: string;
}

const sayCommand = ({ verb, summary, why }: Word): Command => ({
  name: `operation ${verb}`,
  summary,
  arguments: [{ name: "ID", required: true }],
  options: { reason: { value: "TEXT", meaning: "why, for the record (required)" }, ...actorOption },
  examples: [[`tuntas operation ${verb} 12 --reason "${why}"`, "on the record"]],
  no: `there is none, or its state does not let it ${verb}`,
  run(call) {
    const act = { actor: actorOf(call), reason: call.required("reason") };
    return withPlatform(async ({ operations }) => ({
      ...answerOf(await operations.say(verb, call.argument(0), act)),
      status: 0,
    }));
  },
});

export const operationWords: readonly Command[] = [
  {
    verb: "approve",
    summary: "Lets an operation begin that waits for another person than the one who asked.",
    why: "looked at ten of them",
  },
  {
    verb: "decline",
    summary: "Says no to an operation that waits for approval.",
    why: "they are being repaired",
  },
  {
    verb: "pause",
    summary: "Stops an operation after the slice that runs, to go on later.",
    why: "the partner is slow",
  },
  {
    verb: "resume",
    summary: "Lets a paused or failed operation go on where it was.",
    why: "the partner is well",
  },
  { verb: "abort", summary: "Ends an operation; what was done stays done.", why: "it was the wrong queue" },
].map((word) => sayCommand(word as Word));
