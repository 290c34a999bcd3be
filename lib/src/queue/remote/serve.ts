// The declared queues of an application that live elsewhere: found, refused where a declaration cannot be kept there, and
// bound, so that what is announced to one of them goes there.
import { toMs } from "../../core/duration.ts";
import type { Log } from "../../engine/log.ts";
import type { SlotTable } from "../../engine/process/slots.ts";
import type { Targets } from "../../engine/target.ts";
import type { QueueContext } from "../client/context.ts";
import type { Sender } from "../client/send.ts";
import type { QueueRecord } from "../contract.ts";
import { queueErrors } from "../contract.ts";
import type { QueueDefinition, WorkerDefinition } from "../declaration.ts";
import { startCounting } from "./count.ts";
import type { OpenService, QueueService, Remote } from "./contract.ts";
import { remoteKind, remoteSender, remoteTarget } from "./send.ts";

export interface ServeParts {
  readonly context: Pick<QueueContext, "database" | "waker">;
  readonly targets: Targets;
  readonly slots: SlotTable;
  readonly log: Log;
}

export interface Remotes {
  readonly of: (queue: QueueDefinition) => Remote;
  readonly senderOf: (queue: QueueDefinition) => Pick<Sender, "send" | "sendIn">;
  close(): Promise<void>;
}

const instead = {
  lock: "use a FIFO queue whose group is what is to be locked",
  globalConcurrency: "bound the concurrency of each process, and how many processes there are",
  tenants:
    "SQS gives each group its fair share, but has no limit a tenant: give the tenant a queue of its own",
};

/**
 * Every receive counts elsewhere, also of a message that only had to wait for a lock or a place: it would be dead before it
 * was ever tried.
 */
function refuseWaits({ queue, options }: WorkerDefinition): void {
  for (const field of ["lock", "globalConcurrency", "tenants"] as const)
    if (options[field] !== undefined)
      throw queueErrors.error(
        "TUNTAS_QUEUE_OPTIONS",
        `queue ${JSON.stringify(queue.name)}: worker: ${field} holds for queues in the database only; ${instead[field]}`,
      );
}

/** Opens the service for these queues. Errors: TUNTAS_QUEUE_OPTIONS, and those of its `open`. */
export async function openRemotes(
  service: QueueService,
  records: ReadonlyMap<QueueDefinition, QueueRecord>,
  { workers, ...parts }: ServeParts & { readonly workers: readonly WorkerDefinition[] },
): Promise<Remotes> {
  const { context, targets, slots, log } = parts;
  workers.forEach(refuseWaits);
  const timeouts = new Map(workers.map(({ queue, options }) => [queue, toMs(options.timeout)]));
  const wanted = [...records.keys()].map((queue) => ({ queue, timeoutMs: timeouts.get(queue) }));
  const open: OpenService = await service.open(wanted, { log, slots: slots.shared });
  const unbinds = [...records].flatMap(([definition, queue]) => {
    const target = remoteTarget(queue, open.of(definition));
    return [remoteKind, "queue"].map((kind) => targets.bind({ kind, name: queue.name }, target));
  });
  const queues = [...records].map(([definition, queue]) => ({ queue, remote: open.of(definition) }));
  const counting = startCounting(context, queues, log);
  return {
    of: open.of,
    senderOf: (queue) => remoteSender(context.database, open.of(queue)),
    async close() {
      for (const unbind of unbinds) unbind();
      await counting.close();
      await open.close();
    },
  };
}
