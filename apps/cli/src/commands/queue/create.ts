import { queueErrors, type QueueRecord, type QueueSettings } from "tuntas/queue";
import type { Call, Command } from "../../command.ts";
import { scopeOf, scopeOptions, withPlatform } from "../../session.ts";

const names = /^(?=.{1,80}$)[A-Za-z0-9_-]+(\.fifo)?$/;

function seconds(call: Call, option: string): number | undefined {
  const ms = call.durationMs(option);
  return ms === undefined ? undefined : Math.round(ms / 1000);
}

function settingsOf(call: Call): QueueSettings {
  const deadLetterName = call.text("dead-letter");
  const receivesMax = call.count("receives-max", [1, 1000]);
  if ((deadLetterName === undefined) !== (receivesMax === undefined)) {
    throw call.wrong("--dead-letter and --receives-max belong together");
  }
  const given = {
    visibilitySeconds: seconds(call, "visibility"),
    retentionSeconds: seconds(call, "retention"),
    delaySeconds: seconds(call, "delay"),
    deadLetterName,
    receivesMax,
    contentDeduplication: call.flag("content-deduplication") || undefined,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

const differs = (queue: QueueRecord, settings: QueueSettings) =>
  (Object.keys(settings) as (keyof QueueSettings)[]).find((key) => queue[key] !== settings[key]);

export const queueCreate: Command = {
  name: "queue create",
  summary: "Creates a queue. Where it exists with the same settings, nothing happens.",
  arguments: [{ name: "QUEUE", required: true }],
  options: {
    visibility: { value: "DURATION", meaning: "hides a received message so long; 30s by default" },
    retention: { value: "DURATION", meaning: "how long a message may wait, 60s to 14d; 4d by default" },
    delay: { value: "DURATION", meaning: "hides a new message so long, at most 15m" },
    "dead-letter": { value: "QUEUE", meaning: "where messages go that are received too often" },
    "receives-max": { value: "N", meaning: "after so many receives" },
    "content-deduplication": { meaning: "FIFO: deduplicate by the body's hash" },
    ...scopeOptions,
  },
  examples: [
    ["tuntas queue create order-work-dlq --retention 14d", "first the dead-letter queue"],
    [
      "tuntas queue create order-work --visibility 60s --dead-letter order-work-dlq --receives-max 5",
      "then the queue",
    ],
    ["tuntas queue create orders.fifo --content-deduplication", "a FIFO queue: its name ends with .fifo"],
  ],
  no: "it exists with other settings, or its name is not one that SQS takes",
  async run(call) {
    const name = call.argument(0);
    const settings = settingsOf(call);
    if (!names.test(name))
      throw queueErrors.error(
        "TUNTAS_QUEUE_NAME",
        `expected 1 to 80 letters, digits, "-" or "_", got ${JSON.stringify(name)}`,
      );
    return withPlatform(async ({ queues: { catalog } }) => {
      const { status, queue } = await catalog.create(scopeOf(call), name, settings);
      const other = status === "exists" ? differs(queue, settings) : undefined;
      if (other)
        throw queueErrors.error(
          "TUNTAS_QUEUE_EXISTS",
          `queue ${name} exists, and its ${other} is ${queue[other]}, not ${settings[other]}`,
        );
      return {
        document: { status, queue },
        text: status === "created" ? `created ${name}` : `${name} exists already, with these settings`,
      };
    });
  },
};
