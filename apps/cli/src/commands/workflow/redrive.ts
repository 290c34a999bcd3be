import type { Verdict } from "tuntas/workflow";
import type { Command } from "../../command.ts";
import { actOf, actOptions, applicationOption, scopeOptions, withApplication } from "../../session.ts";
import { arnOf } from "./lookup.ts";

const verdicts: readonly Verdict[] = ["safe", "reconcile first", "forbidden"];

export const workflowRedrive: Command = {
  name: "workflow redrive",
  summary:
    "Runs a failed execution again from where it failed, by the verdict that you have seen. On the record.",
  arguments: [{ name: "WORKFLOW/NAME", required: true }],
  options: {
    seen: { value: "VERDICT", meaning: `what inspect said: ${verdicts.join(", ")}; safe by default` },
    reconciled: { meaning: "what inspect wanted reconciled first has been; your word is on the record" },
    ...actOptions,
    ...scopeOptions,
    ...applicationOption,
  },
  examples: [
    [
      'tuntas workflow redrive CaseActivation/one --app dist/cases.js --reason "the post is back"',
      "inspect said safe",
    ],
    [
      'tuntas workflow redrive CaseActivation/one --seen "reconcile first" --reconciled --reason "row mended"',
      "after what it asked for was done",
    ],
  ],
  no: "it is not to be redriven, or the facts are not those that you saw",
  async run(call) {
    const act = actOf(call);
    const seen = call.oneOf("seen", verdicts) ?? "safe";
    return withApplication(call, async (platform) => {
      const arn = await arnOf(platform, call, call.argument(0));
      const decision = { ...act, seen, reconciled: call.flag("reconciled") };
      const report = await platform.workflows.redrives.redrive(arn, decision);
      return { document: report, text: `redriven; on the record as ${report.auditId}` };
    });
  },
};
