import type { DomainFact, Inspection } from "tuntas/workflow";
import type { Command } from "../../command.ts";
import { facts, plural, printable, table } from "../../render.ts";
import { applicationOption, scopeOptions, withApplication } from "../../session.ts";
import { arnOf } from "./lookup.ts";

const domainText = (domain: DomainFact): string => {
  if (domain.known !== "read") return domain.known;
  return domain.row ? `${domain.key}: ${JSON.stringify(domain.row)}` : `${domain.key}: no row`;
};

export const inspectionText = (found: Inspection): string =>
  [
    facts({
      execution: found.execution.arn,
      status: found.execution.status,
      "failed at":
        found.halted.map(({ state, attempts }) => `${state} (${plural(attempts, "attempt")})`).join(", ") ||
        null,
      error: found.execution.error,
      cause: found.execution.cause === undefined ? null : printable(found.execution.cause),
      domain: printable(domainText(found.domain)),
      "steps done": found.commands.length,
      outbox: found.outbox.map(({ state, target }) => `${state} ${target}`).join(", ") || null,
      "side effects":
        found.effects.map(({ operation, key, state }) => `${operation} ${key} ${state}`).join(", ") || null,
      reservations:
        found.reservations.map(({ resource, state }) => `${resource} ${state}`).join(", ") || null,
      approvals: found.approvals.map(({ subject, status }) => `${subject} ${status}`).join(", ") || null,
    }),
    table(found.findings, {
      verdict: (finding) => finding.verdict,
      about: (finding) => finding.about,
      finding: (finding) => finding.message,
      "what to do": (finding) => finding.remedy,
    }),
    `redrive: ${found.verdict}`,
  ].join("\n\n");

export const workflowInspect: Command = {
  name: "workflow inspect",
  summary: "Looks at all that a failed execution left behind, and says whether a redrive is safe, and why.",
  arguments: [{ name: "WORKFLOW/NAME", required: true }],
  options: { ...scopeOptions, ...applicationOption },
  examples: [
    [
      "tuntas workflow inspect CaseActivation/one --app dist/cases.js",
      "with the domain's row, which only its application reads",
    ],
  ],
  no: "a redrive is not safe",
  run: (call) =>
    withApplication(call, async (platform) => {
      const found = await platform.workflows.redrives.inspect(await arnOf(platform, call, call.argument(0)));
      return { document: found, text: inspectionText(found), status: found.verdict === "safe" ? 0 : 1 };
    }),
};
