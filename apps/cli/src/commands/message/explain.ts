import type { Answer, Call, Command } from "../../command.ts";
import { facts, instant, printable } from "../../render.ts";
import { withPlatform } from "../../session.ts";
import type { Explanation } from "tuntas/queue";

const gone = (messageId: string): Answer => ({
  document: { messageId, state: "gone" },
  text: `there is no message ${messageId}: it has ended as done, was deleted or expired, or never was`,
  status: 1,
});

const explained = (call: Call, describe: (explanation: Explanation) => string) =>
  withPlatform(async ({ queues: { inspector } }) => {
    const explanation = await inspector.explain(call.argument(0));
    return explanation ? { document: explanation, text: describe(explanation) } : gone(call.argument(0));
  });

const reasonsOf = ({ reasons }: Explanation): string =>
  reasons.map(({ code, text }) => `${code}: ${text}`).join("\n");

export const messageExplain: Command = {
  name: "message explain",
  summary: "Says why a message is not running.",
  arguments: [{ name: "MESSAGE-ID", required: true }],
  examples: [
    [
      "tuntas message explain 5fea7756-0ea4-451a-a703-a558b933e274",
      "delayed, paused, blocked by its group, behind a cap, held by whom, dead?",
    ],
  ],
  no: "there is no such message",
  run: (call) => explained(call, reasonsOf),
};

const historyOf = ({ history }: Explanation): string =>
  history
    .map(({ atMs, actor, action, reason }) => `  ${instant(atMs)}  ${action} by ${actor}: ${reason ?? ""}`)
    .join("\n");

export const messageShow: Command = {
  name: "message show",
  summary: "Shows a message: its body, where it is, what happened to it.",
  arguments: [{ name: "MESSAGE-ID", required: true }],
  examples: [
    ["tuntas message show 5fea7756-0ea4-451a-a703-a558b933e274 --json", "everything that is known of it"],
  ],
  no: "there is no such message",
  run: (call) =>
    explained(call, (explanation) =>
      [
        facts({
          "message id": explanation.messageId,
          queue: explanation.queue,
          state: explanation.state,
          sent: instant(explanation.sentAtMs),
          receives: explanation.receives,
          group: explanation.groupId,
          "last failure":
            explanation.code === null ? null : `${explanation.code}: ${explanation.message ?? ""}`,
          owner: explanation.owner ?? "none",
          runbook: explanation.runbook,
        }),
        reasonsOf(explanation),
        ...(explanation.body === null ? [] : [printable(explanation.body)]),
        ...(explanation.history.length === 0 ? [] : [`What people did to it:\n${historyOf(explanation)}`]),
      ].join("\n\n"),
    ),
};
