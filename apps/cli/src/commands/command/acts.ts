// What a person says to a run of a one-off command, on the record.
import type { Verb } from "tuntas/operation";
import type { Command } from "../../command.ts";
import { actorOf, actOptions, withPlatform } from "../../session.ts";
import { answerOf } from "./report.ts";

const act = (verb: Verb, summary: string, why: string): Command => ({
  name: `command ${verb}`,
  summary,
  arguments: [{ name: "RUN", required: true }],
  options: actOptions,
  examples: [[`tuntas command ${verb} 12 --reason "${why}"`, "on the record"]],
  no: "there is no such run, its form is incomplete, you are not the one, or its state does not allow it",
  run(call) {
    const said = { actor: actorOf(call), reason: call.required("reason") };
    return withPlatform(async ({ commands, operations }) => {
      const { id } = await commands.get(call.argument(0));
      await operations.say(verb, id, said);
      return { ...answerOf(await commands.get(id)), status: 0 };
    });
  },
});

export const commandActs: readonly Command[] = [
  act(
    "approve",
    "Lets a run begin whose form is complete; by the person who was named.",
    "the dry run is right",
  ),
  act("decline", "Says no to a run that waits for approval.", "it is being mended elsewhere"),
  act("abort", "Stops a run: what its handler wrote is taken back, its program is ended.", "the wrong case"),
];

export const commandClose: Command = {
  name: "command close",
  summary: "Puts the evidence on a run that has ended, which is the last of its seven records.",
  arguments: [{ name: "RUN", required: true }],
  options: {
    evidence: { value: "LINK", meaning: "the ticket or incident (required)" },
    invariant: {
      value: "TEXT",
      meaning: "what you saw in the domain, where the command's own check was not made",
    },
    ...actOptions,
  },
  examples: [
    [
      'tuntas command close 12 --evidence https://tickets/7 --reason "the balance is right"',
      "done, on the record",
    ],
  ],
  no: "there is no such run, it is closed, or one of the seven is missing",
  run(call) {
    const act = { actor: actorOf(call), reason: call.required("reason") };
    const [evidence, invariant] = [call.required("evidence"), call.text("invariant")];
    return withPlatform(async ({ commands }) => ({
      ...answerOf(await commands.close(call.argument(0), { ...act, evidence, invariant })),
      status: 0,
    }));
  },
};
