// What a person does to a schedule, on the record.
import type { Command } from "../../command.ts";
import { actOf, actOptions, withPlatform } from "../../session.ts";
import { occurrenceTable } from "./show.ts";

const shared = { arguments: [{ name: "SCHEDULE", required: true }], options: actOptions } as const;
const no = "there is no such schedule";

export const schedulePause: Command = {
  ...shared,
  name: "schedule pause",
  summary: "Lets nothing of a schedule become due until it is resumed; what runs is finished.",
  examples: [
    [
      'tuntas schedule pause nightly-report --reason "the source is being moved"',
      "its alarm still tells of a missing success",
    ],
  ],
  no,
  run: (call) =>
    withPlatform(async ({ schedules }) => ({
      document: await schedules.pause(call.argument(0), actOf(call)),
      text: `paused ${call.argument(0)}`,
    })),
};

export const scheduleResume: Command = {
  ...shared,
  name: "schedule resume",
  summary: "Lets a schedule go on with its next instant; what passed while it was paused is not caught up.",
  examples: [
    [
      'tuntas schedule resume nightly-report --reason "moved"',
      "then `schedule run` for windows that are wanted",
    ],
  ],
  no,
  run: (call) =>
    withPlatform(async ({ schedules }) => ({
      document: await schedules.resume(call.argument(0), actOf(call)),
      text: `resumed ${call.argument(0)}`,
    })),
};

export const scheduleRun: Command = {
  ...shared,
  name: "schedule run",
  summary: "Runs the window of an instant again, of the latest one by default; it waits while another runs.",
  options: {
    due: { value: "INSTANT", meaning: "the instant whose window is run, as `schedule show` has it" },
    ...actOptions,
  },
  examples: [
    ['tuntas schedule run nightly-report --reason "the source was late"', "the latest window"],
    [
      'tuntas schedule run nightly-report --due 2026-11-28T19:00:00Z --reason "see ticket 7"',
      "that of another night",
    ],
  ],
  no: "there is no such schedule, or it was not due at that instant",
  run(call) {
    const [name, act, due] = [call.argument(0), actOf(call), call.text("due")];
    const dueMs = due === undefined ? undefined : Date.parse(due);
    if (Number.isNaN(dueMs))
      throw call.wrong(`--due: expected an instant such as 2026-11-28T19:00:00Z, got ${due}`);
    return withPlatform(async ({ schedules }) => {
      const occurrence = await schedules.run(name, { ...act, dueMs });
      return { document: occurrence, text: occurrenceTable([occurrence]) };
    });
  },
};

export const scheduleRemove: Command = {
  ...shared,
  name: "schedule remove",
  summary: "Removes a schedule that no code declares any more, with the record of its occurrences.",
  destructive: true,
  examples: [
    [
      'tuntas schedule remove nightly-report --reason "replaced by hourly-report" --yes',
      "what runs is finished",
    ],
  ],
  no,
  async run(call) {
    const [name, act] = [call.argument(0), actOf(call)];
    return withPlatform(async ({ schedules }) => {
      await schedules.remove(name, act);
      return { document: { status: "removed", schedule: name }, text: `removed ${name}` };
    });
  },
};
