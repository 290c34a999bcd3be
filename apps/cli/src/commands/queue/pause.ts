import type { Call, Command } from "../../command.ts";
import { actOf, actOptions, scopeOptions, withQueue } from "../../session.ts";

const options = { ...actOptions, ...scopeOptions };

function setPaused(call: Call, act: "pause" | "resume") {
  const { by, reason } = actOf(call);
  return withQueue(call, async ({ queues: { catalog } }, queue) => {
    await catalog[act](queue, by, reason);
    const status = act === "pause" ? "paused" : "resumed";
    return { document: { status, queue: queue.name, actor: by }, text: `${status} ${queue.name}` };
  });
}

export const queuePause: Command = {
  name: "queue pause",
  summary: "Stops giving out messages of a queue, to workers and over the wire. Sending goes on.",
  arguments: [{ name: "QUEUE", required: true }],
  options,
  examples: [
    ['tuntas queue pause order-work --reason "payment provider is down"', "what is in flight is finished"],
  ],
  no: "there is no such queue",
  run: async (call) => setPaused(call, "pause"),
};

export const queueResume: Command = {
  name: "queue resume",
  summary: "Gives out messages of a paused queue again.",
  arguments: [{ name: "QUEUE", required: true }],
  options,
  examples: [['tuntas queue resume order-work --reason "it is back"', "consumers go on at once"]],
  no: "there is no such queue",
  run: async (call) => setPaused(call, "resume"),
};
