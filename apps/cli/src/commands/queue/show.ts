import type { QueueCounts, QueueRecord } from "tuntas/queue";
import type { Command } from "../../command.ts";
import { facts, instant } from "../../render.ts";
import { scopeOptions, withQueue } from "../../session.ts";

/** What a person wants to know of a queue. */
const describe = (queue: QueueRecord, counts: QueueCounts): string =>
  facts({
    name: queue.name,
    kind: queue.fifo ? "FIFO" : "standard",
    ready: counts.ready,
    "in flight": counts.inFlight,
    delayed: counts.delayed,
    "visibility timeout": `${queue.visibilitySeconds} s`,
    retention: `${queue.retentionSeconds} s`,
    delay: `${queue.delaySeconds} s`,
    "message size": `at most ${queue.messageBytesMax} bytes`,
    "dead letters to":
      queue.deadLetterName === null ? null : `${queue.deadLetterName}, after ${queue.receivesMax} receives`,
    poison: queue.poison,
    owner: queue.owner ?? "none (not declared in code)",
    runbook: queue.runbook,
    "replay forbidden": queue.replayForbidden,
    paused: queue.pausedAtMs === null ? "no" : `since ${instant(queue.pausedAtMs)} by ${queue.pausedBy}`,
    created: instant(queue.createdAtMs),
  });

export const queueShow: Command = {
  name: "queue show",
  summary: "Shows the settings of a queue and what is in it.",
  arguments: [{ name: "QUEUE", required: true }],
  options: scopeOptions,
  examples: [["tuntas queue show order-work", "its timeouts, its dead-letter queue, its owner"]],
  no: "there is no such queue",
  run: (call) =>
    withQueue(call, async ({ queues: { catalog } }, queue) => {
      const counts = await catalog.count(queue);
      return {
        document: { ...queue, ...counts, tags: await catalog.tags(queue) },
        text: describe(queue, counts),
      };
    }),
};
