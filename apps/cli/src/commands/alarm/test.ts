import { setTimeout as sleep } from "node:timers/promises";
import type { Platform } from "tuntas";
import type { Command } from "../../command.ts";
import { plural, table } from "../../render.ts";
import { actorOf, actorOption, withPlatform } from "../../session.ts";
import { commandLine } from "../user/add.ts";

/** Waits until every receiver has it, or the time is over. */
async function waitFor({ alarms }: Pick<Platform, "alarms">, ids: readonly string[], ms: number) {
  const until = performance.now() + ms;
  for (;;) {
    const deliveries = await alarms.deliveries(ids);
    const waiting = deliveries.some(({ state }) => state === "waiting");
    if (!waiting || performance.now() > until) return deliveries;
    await sleep(100);
  }
}

export const alarmTest: Command = {
  name: "alarm test",
  summary:
    "Announces a trial of the alarm the whole way to its receivers, and says whether each of them took it.",
  arguments: [{ name: "ALARM", required: true }],
  options: {
    reason: { value: "TEXT", meaning: "why, for the record" },
    wait: { value: "DURATION", meaning: "how long to wait for the receivers; 15s by default" },
    ...actorOption,
  },
  examples: [["tuntas alarm test orders-old", "does the pager ring?"]],
  no: "a receiver did not take it, or the alarm has none",
  run: (call) =>
    withPlatform(async (platform) => {
      const name = call.argument(0);
      const by = { actor: actorOf(call), from: commandLine, reason: call.text("reason") ?? "" };
      const ids = await platform.alarms.test(name, by);
      const deliveries = await waitFor(platform, ids, call.durationMs("wait") ?? 15_000);
      const delivered = deliveries.filter(({ state }) => state === "delivered");
      const all = ids.length > 0 && delivered.length === ids.length;
      const text =
        ids.length === 0
          ? `${name} has no receiver: give it one with notify, or set TUNTAS_ALARM_WEBHOOK`
          : `${table(deliveries, {
              RECEIVER: (each) => each.target,
              STATE: (each) => each.state,
              FAILURE: (each) => each.failure,
            })}\n${delivered.length} of ${plural(ids.length, "receiver")} took it`;
      return { document: { alarm: name, deliveries }, text, status: all ? 0 : 1 };
    }),
};
