import type { Command } from "../../command.ts";
import { instant, table } from "../../render.ts";
import { scopeOf, withPlatform } from "../../session.ts";
import { checkQueue, filterOf, filterOptions } from "./filter.ts";

export const dlqList: Command = {
  name: "dlq list",
  summary: "Lists what waits for a person, dead letters and quarantine, grouped by cause.",
  options: filterOptions,
  examples: [
    ["tuntas dlq list", "what is there, since when, whose is it, where is the runbook?"],
    ["tuntas dlq list --queue order-work --since 2h --json", "of one queue, lately"],
  ],
  no: "something waits for a person",
  run: (call) =>
    withPlatform(async (platform) => {
      const { deadLetters } = platform.queues;
      await checkQueue(platform, call);
      const groups = await deadLetters.groups(scopeOf(call), filterOf(call));
      return {
        document: groups,
        text:
          groups.length === 0
            ? "nothing waits for a person"
            : table(groups, {
                queue: (group) => group.queue ?? "(deleted)",
                place: (group) => group.place,
                count: (group) => group.count,
                outcome: (group) => group.outcome,
                fingerprint: (group) => group.fingerprint,
                version: (group) => group.schemaVersion,
                first: (group) => instant(group.firstSeenAtMs),
                last: (group) => instant(group.lastSeenAtMs),
                owner: (group) => group.owner,
                runbook: (group) => group.runbook,
                "replay forbidden": (group) => group.replayForbidden,
              }),
        status: groups.length === 0 ? 0 : 1,
      };
    }),
};
