import type { OperationState } from "tuntas/operation";
import type { Command } from "../../command.ts";
import { instant, table } from "../../render.ts";
import { withPlatform } from "../../session.ts";

export const operationList: Command = {
  name: "operation list",
  summary: "Lists what people did to many things at once: who, why, how far.",
  options: {
    state: {
      value: "STATE",
      meaning: "running, paused, awaiting_approval, completed, aborted, declined or failed",
    },
    kind: { value: "KIND", meaning: "replay, move, reject, redrive, purge, or an application's own" },
    limit: { value: "N", meaning: "at most so many, the newest first; 100 by default" },
  },
  examples: [
    ["tuntas operation list", "the newest first"],
    ["tuntas operation list --state awaiting_approval", "what waits for another person"],
  ],
  run: (call) =>
    withPlatform(async ({ operations }) => {
      const found = await operations.list({
        state: call.text("state") as OperationState | undefined,
        kind: call.text("kind"),
        limit: call.count("limit", [1, 1000]),
      });
      return {
        document: found,
        text: table(found, {
          id: ({ id }) => id,
          kind: ({ kind }) => kind,
          state: ({ state }) => state,
          done: ({ done, selected }) => `${done} of ${selected}`,
          refused: ({ refused }) => refused,
          by: ({ actor }) => actor,
          reason: ({ reason }) => reason,
          asked: ({ askedAtMs }) => instant(askedAtMs),
        }),
      };
    }),
};
