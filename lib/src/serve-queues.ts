// Queues of an application: made here, found where they live, and bound to whoever sends to them.
import type { ChangeDefinition } from "./change/contract.ts";
import { sentOf } from "./change/declaration.ts";
import type { Tracing } from "./measure/trace.ts";
import type { Platform } from "./platform.ts";
import type { QueueRecord } from "./queue/contract.ts";
import { bindQueue, type QueueDefinition, type WorkerDefinition } from "./queue/declaration.ts";
import { ensureQueue } from "./queue/ensure.ts";
import type { QueueService } from "./queue/remote/contract.ts";
import { openRemotes, type Remotes } from "./queue/remote/serve.ts";
import { sendDeclared } from "./queue/send.ts";

/** Makes the database agree with the declared queues, and finds those that live elsewhere. */
export async function beginQueues(
  platform: Platform,
  service: QueueService | undefined,
  { queues, workers }: { queues: readonly QueueDefinition[]; workers: readonly WorkerDefinition[] },
): Promise<{ records: ReadonlyMap<QueueDefinition, QueueRecord>; remotes: Remotes | undefined }> {
  const records = new Map<QueueDefinition, QueueRecord>();
  for (const queue of queues) records.set(queue, await ensureQueue(platform.queues.catalog, queue));
  const remotes = service && (await openRemotes(service, records, { ...platform, workers }));
  return { records, remotes };
}

interface Binding {
  readonly tracing: Tracing | undefined;
  readonly remotes: Remotes | undefined;
  readonly changes: readonly ChangeDefinition[];
}

export function bindQueues(
  queues: readonly QueueDefinition[],
  { queues: { catalog, sender } }: Platform,
  { tracing, remotes, changes }: Binding,
): void {
  for (const queue of queues) {
    const ways = { catalog, sender: remotes?.senderOf(queue) ?? sender, sent: sentOf(changes, queue.name) };
    bindQueue(queue, (of, message, options) => {
      const send = (traced: typeof options) => sendDeclared(ways, of, message, traced);
      return tracing ? tracing.send(of.name, options, send) : send(options);
    });
  }
}
