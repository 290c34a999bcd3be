import type { InboxItem } from "tuntas/workflow";
import type { Command } from "../../command.ts";
import { facts, instant, printable, table } from "../../render.ts";
import { actorOption, withPlatform } from "../../session.ts";
import { approvalOf, personOf, personOptions } from "./person.ts";

const describe = (item: InboxItem): string =>
  [
    facts({
      about: item.subject,
      asks: `${item.workflow} ${item.task}`,
      execution: item.executionArn,
      status: item.status,
      "asked by": item.requestedBy,
      asked: instant(item.requestedAtMs),
      due: instant(item.dueAtMs),
      escalates: instant(item.escalatedAtMs ?? item.escalateAtMs),
      expires: instant(item.expiresAtMs),
      "signatures missing": item.signaturesMissing,
      you: item.standing,
      "decided by": item.guarded ? "its application only" : "anybody's command",
    }),
    table(item.deciders, {
      "may decide": (decider) => `${decider.kind} ${decider.name}`,
      by: (decider) => decider.via,
      since: (decider) => instant(decider.sinceMs),
    }),
    table(item.signatures, {
      signed: (signature) => signature.name,
      decision: (signature) => signature.decision,
      reason: (signature) => signature.reason,
      at: (signature) => instant(signature.signedAtMs),
    }),
    printable(JSON.stringify(item.evidence, null, 2)),
  ].join("\n\n");

export const approvalShow: Command = {
  name: "approval show",
  summary: "Shows an approval: its evidence, who may decide, who has, who else must, and until when.",
  arguments: [{ name: "ID", required: true }],
  options: { ...actorOption, ...personOptions },
  examples: [["tuntas approval show ID --actor ben --role supervisor", "may ben sign it?"]],
  no: "it is not pending any more",
  run: (call) =>
    withPlatform(async (platform) => {
      const item = await approvalOf(platform, call.argument(0), personOf(call));
      return { document: item, text: describe(item), status: item.status === "pending" ? 0 : 1 };
    }),
};
