import type { Command } from "../../command.ts";
import { table } from "../../render.ts";
import { scopeOf, scopeOptions, withPlatform } from "../../session.ts";

export const queueList: Command = {
  name: "queue list",
  summary: "Lists the queues, with what is in them and whose they are.",
  options: { prefix: { value: "TEXT", meaning: "only names that begin with it" }, ...scopeOptions },
  examples: [
    ["tuntas queue list", "all queues"],
    ["tuntas queue list --prefix order- --json", "those of the orders, for a script"],
  ],
  run: (call) =>
    withPlatform(async ({ queues: { catalog } }) => {
      const queues = await catalog.list(scopeOf(call), {
        prefix: call.text("prefix") ?? "",
        after: "",
        limit: 1000,
      });
      const rows = await Promise.all(
        queues.map(async (queue) => ({ queue, counts: await catalog.count(queue) })),
      );
      return {
        document: rows.map(({ queue, counts }) => ({ ...queue, ...counts })),
        text: table(rows, {
          name: ({ queue }) => queue.name,
          ready: ({ counts }) => counts.ready,
          "in flight": ({ counts }) => counts.inFlight,
          delayed: ({ counts }) => counts.delayed,
          "dead letters to": ({ queue }) => queue.deadLetterName,
          owner: ({ queue }) => queue.owner ?? "none",
          state: ({ queue }) => (queue.pausedAtMs === null ? "open" : `paused by ${queue.pausedBy}`),
        }),
      };
    }),
};
