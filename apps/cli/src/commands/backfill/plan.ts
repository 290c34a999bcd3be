import type { Command } from "../../command.ts";
import { actOf, actOptions, withPlatform } from "../../session.ts";
import { answerOf, waitOf, waitOptions } from "./acts.ts";

function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

export const backfillPlan: Command = {
  name: "backfill plan",
  summary: "Plans a run of a backfill for a scope: its partitions, and how many records each has.",
  arguments: [{ name: "BACKFILL", required: true }],
  options: {
    scope: { value: "JSON", meaning: "which records it is about (required)" },
    ...actOptions,
    ...waitOptions,
  },
  examples: [
    [
      `tuntas backfill plan fees --scope '{"tenant":"acme"}' --reason "see ticket 7"`,
      "a scope has one run at a time: a second time it says which",
    ],
  ],
  no: "there is no such backfill, the scope is wrong, or it was not planned in time",
  run(call) {
    const [name, act, text] = [call.argument(0), actOf(call), call.required("scope")];
    const scope = parsed(text);
    if (!scope) throw call.wrong(`--scope: expected JSON, got ${text}`);
    return withPlatform(async ({ backfills }) => {
      const { status, runId } = await backfills.plan(name, scope.value, act);
      const run = await backfills.settled(runId, waitOf(call));
      const answer = answerOf(run, status === "created" ? "planned" : undefined);
      return { ...answer, document: { status, ...run } };
    });
  },
};
