import { setTimeout as sleep } from "node:timers/promises";
import type { Platform } from "tuntas";
import type { MoveTask, QueueRecord } from "tuntas/queue";
import type { Command } from "../../command.ts";
import { cliErrors } from "../../errors.ts";
import { plural } from "../../render.ts";
import { actorOf, actorOption, findQueue, scopeOf, scopeOptions, withQueue } from "../../session.ts";

const lookMs = 100;

async function untilEnded({ queues }: Platform, source: QueueRecord, id: string): Promise<MoveTask> {
  for (;;) {
    const task = (await queues.moves.list(source, 10)).find((each) => each.id === id)!;
    if (task.status !== "RUNNING" && task.status !== "CANCELLING") return task;
    await sleep(lookMs);
  }
}

export const queueRedrive: Command = {
  name: "queue redrive",
  summary: "Moves everything in a dead-letter queue back, as SQS's StartMessageMoveTask does.",
  arguments: [{ name: "DEAD-LETTER-QUEUE", required: true }],
  options: {
    to: { value: "QUEUE", meaning: "into this queue; back to where each died by default" },
    "per-second": { value: "N", meaning: "at most so many messages a second (1 to 500)" },
    ...actorOption,
    ...scopeOptions,
  },
  examples: [
    ["tuntas queue redrive order-work-dlq --per-second 50", "all of it, slowly"],
    ["tuntas help dlq replay", "to choose which, and to leave a record of why"],
  ],
  no: "there is no such queue, a move runs already, or it failed",
  run: (call) =>
    withQueue(call, async (platform, source) => {
      const { moves } = platform.queues;
      const to = call.text("to");
      const destination = to === undefined ? undefined : await findQueue(platform, scopeOf(call), to);
      const begun = await moves.start(source, {
        destination,
        perSecond: call.count("per-second", [1, 500]),
        actor: actorOf(call),
      });
      if (begun.status === "busy")
        throw cliErrors.error("TUNTAS_MOVE_RUNS", `messages of ${source.name} are being moved already`);
      const task = await untilEnded(platform, source, begun.task.id);
      const failed = task.status === "FAILED";
      const text = `${task.status.toLowerCase()}: moved ${plural(task.moved, "message")} out of ${source.name}${failed ? ` (${task.failureReason})` : ""}`;
      return { document: task, text, status: failed ? 1 : 0 };
    }),
};
