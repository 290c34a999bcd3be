import { durationText } from "tuntas";
import type { PoisonPolicy, QueueCounts, QueueRecord } from "tuntas/queue";
import type { Command } from "../../command.ts";
import { facts, instant } from "../../render.ts";
import { scopeOptions, withQueue } from "../../session.ts";
import { tenantTable } from "./tenants.ts";

const poisonText: Readonly<Record<PoisonPolicy, string>> = {
  exhaust: "received until it is dead (exhaust)",
  quarantine: "put aside at once (quarantine)",
};

const bytesText = (bytes: number): string => (bytes % 1024 === 0 ? `${bytes / 1024} KiB` : `${bytes} bytes`);

type Rules = Readonly<Record<string, string>>;

const secondsText = (seconds: number): string => durationText(seconds * 1000);

const rulesText = (rules: Rules): string =>
  Object.entries(rules)
    .map(([code, why]) => `${code} (${why})`)
    .join(", ");

/** What a person wants to know of a queue. */
const describe = (queue: QueueRecord, counts: QueueCounts, replayForbidden: Rules): string =>
  facts({
    name: queue.name,
    kind: queue.fifo ? "FIFO" : "standard",
    ready: counts.ready,
    "in flight": counts.inFlight,
    delayed: counts.delayed,
    "visibility timeout": secondsText(queue.visibilitySeconds),
    retention: secondsText(queue.retentionSeconds),
    delay: queue.delaySeconds === 0 ? "" : secondsText(queue.delaySeconds),
    "message size": `at most ${bytesText(queue.messageBytesMax)}`,
    "dead letters to":
      queue.deadLetterName === null ? null : `${queue.deadLetterName}, after ${queue.receivesMax} receives`,
    "poison messages": poisonText[queue.poison],
    owner: queue.owner ?? "none (not declared in code)",
    runbook: queue.runbook,
    "replay forbidden": rulesText(replayForbidden),
    paused: queue.pausedAtMs === null ? "no" : `since ${instant(queue.pausedAtMs)} by ${queue.pausedBy}`,
    created: instant(queue.createdAtMs),
  });

const tenantsMax = 10;

export const queueShow: Command = {
  name: "queue show",
  summary: "Shows the settings of a queue and what is in it.",
  arguments: [{ name: "QUEUE", required: true }],
  options: scopeOptions,
  examples: [
    ["tuntas queue show order-work", "its timeouts, its dead-letter queue, its owner, its noisiest tenants"],
  ],
  no: "there is no such queue",
  run: (call) =>
    withQueue(call, async ({ queues: { catalog, inspector } }, queue) => {
      const tenants = await inspector.tenants(queue, tenantsMax);
      const counts = await catalog.count(queue);
      const replayForbidden = JSON.parse(queue.replayForbidden) as Rules;
      return {
        document: { ...queue, ...counts, replayForbidden, tags: await catalog.tags(queue), tenants },
        text: [
          describe(queue, counts, replayForbidden),
          ...(tenants.length > 0 ? [tenantTable(tenants)] : []),
        ].join("\n\n"),
      };
    }),
};
