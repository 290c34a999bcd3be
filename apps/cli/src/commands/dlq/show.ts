import type { Command } from "../../command.ts";
import { instant, table } from "../../render.ts";
import { scopeOf, withPlatform } from "../../session.ts";
import { checkQueue, filterOf, filterOptions } from "./filter.ts";

export const dlqShow: Command = {
  name: "dlq show",
  summary: "Shows the messages that wait for a person, with their bodies.",
  options: {
    ...filterOptions,
    limit: { value: "N", meaning: "at most so many; 20 by default" },
    after: { value: "NUMBER", meaning: "only after this number (`id` under --json)" },
  },
  examples: [
    ["tuntas dlq show --queue order-work --code TUNTAS_MESSAGE_INVALID", "those of one cause"],
    ["tuntas dlq show --id 5fea7756-0ea4-451a-a703-a558b933e274 --json", "one of them, whole"],
  ],
  no: "there are none",
  run: (call) =>
    withPlatform(async (platform) => {
      const { deadLetters } = platform.queues;
      await checkQueue(platform, call);
      const page = {
        after: String(call.count("after", [0, Number.MAX_SAFE_INTEGER]) ?? 0),
        limit: call.count("limit", [1, 1000]) ?? 20,
      };
      const items = await deadLetters.items(scopeOf(call), filterOf(call), page);
      return {
        document: items,
        text: table(items, {
          "message id": (item) => item.messageId,
          queue: (item) => item.queue ?? "(deleted)",
          receives: (item) => item.receives,
          failed: (item) => instant(item.seenAtMs),
          code: (item) => item.code,
          message: (item) => item.message,
          body: (item) => item.body,
        }),
        status: items.length === 0 ? 1 : 0,
      };
    }),
};
