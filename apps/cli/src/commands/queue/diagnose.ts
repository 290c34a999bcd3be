import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "../../command.ts";
import { table } from "../../render.ts";
import { scopeOptions, withQueue } from "../../session.ts";

const windowMsDefault = 3000;

export const queueDiagnose: Command = {
  name: "queue diagnose",
  summary: "Looks at a queue twice and names the signs of poison.",
  arguments: [{ name: "QUEUE", required: true }],
  options: {
    window: { value: "DURATION", meaning: "the time between the two looks; 3s by default" },
    ...scopeOptions,
  },
  examples: [
    [
      "tuntas queue diagnose order-work",
      "redelivered? about to die? failing in one way? getting older? dying?",
    ],
    ["tuntas queue diagnose order-work --window 30s", "a longer look, for a slow queue"],
  ],
  no: "there are signs",
  run: (call) =>
    withQueue(call, async ({ queues: { inspector } }, queue) => {
      const before = await inspector.observe(queue);
      await sleep(call.durationMs("window") ?? windowMsDefault);
      const { observation, signs } = await inspector.diagnose(queue, before);
      const text =
        signs.length === 0
          ? `no sign of poison in ${queue.name}`
          : table(signs, { sign: (sign) => sign.code, what: (sign) => sign.text });
      return {
        document: { queue: queue.name, signs, observation },
        text,
        status: signs.length === 0 ? 0 : 1,
      };
    }),
};
