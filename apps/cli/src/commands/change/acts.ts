// What a person says to a change, on the record: that it has come to its next step, or goes back to an earlier one.
import type { Command } from "../../command.ts";
import { actOf, actOptions, withPlatform } from "../../session.ts";
import { changeTable } from "./report.ts";

export const changeAdvance: Command = {
  name: "change advance",
  summary: "Brings a change to its next step, once everything that the step needs is so.",
  arguments: [{ name: "CHANGE", required: true }],
  options: {
    to: { value: "STEP", meaning: "the step that is meant; refused where it is not the next" },
    ...actOptions,
  },
  examples: [
    [
      'tuntas change advance item-label --to filled --reason "ticket 7"',
      "says what is lacking, or records the step",
    ],
  ],
  no: "there is no such change, the step is not the next one, or it lacks something; nothing was changed",
  run: (call) =>
    withPlatform(async ({ changes }) => {
      const report = await changes.advance(call.argument(0), { ...actOf(call), to: call.text("to") });
      return { document: report, text: changeTable([report]) };
    }),
};

export const changeBack: Command = {
  name: "change back",
  summary: "Takes a change back to an earlier step, so that a release of before may start again.",
  arguments: [{ name: "CHANGE", required: true }],
  options: { to: { value: "STEP", meaning: 'the earlier step, or "none" (required)' }, ...actOptions },
  examples: [
    [
      'tuntas change back item-label --to added --reason "release 12 fails"',
      "then the release of before may start",
    ],
  ],
  no: "there is no such change, no such step before, or a process is alive that may not run there",
  run: (call) =>
    withPlatform(async ({ changes }) => {
      const report = await changes.back(call.argument(0), { ...actOf(call), to: call.required("to") });
      return { document: report, text: changeTable([report]) };
    }),
};
