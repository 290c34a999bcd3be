// Counts the messages of queues that live elsewhere, so that the gauges show them by the names that all queues have.
import { startPeriodic } from "../../engine/periodic.ts";
import type { Log } from "../../engine/log.ts";
import type { QueueContext } from "../client/context.ts";
import type { QueueRecord } from "../contract.ts";
import { claimCount, writeCount } from "../store/depth.ts";
import type { Remote } from "./contract.ts";

const everyMs = 10_000;

export function startCounting(
  { database, waker }: Pick<QueueContext, "database" | "waker">,
  queues: readonly { readonly queue: QueueRecord; readonly remote: Pick<Remote, "count"> }[],
  log: Log,
) {
  return startPeriodic({
    waker,
    key: "remote-depth",
    async round() {
      for (const { queue, remote } of queues)
        // A little earlier than it is due: who asks at the same pace would else be late each second time.
        if (await claimCount(database, queue.id, everyMs * 0.9))
          await writeCount(database, queue.id, await remote.count());
      return everyMs;
    },
    onError: (cause) => log.debug({ cause }, "could not count the messages of a queue; will try again"),
  });
}
