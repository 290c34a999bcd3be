// Amazon SQS as the place where declared queues live: `start(app, { queues: sqs() })`.
import { refuseUnknown, toMs, type Duration, type NamesOf, type QueueDefinition } from "tuntas";
import { queueErrors } from "tuntas/queue";
import type { OpenService, QueueService, ServiceParts, Wanted } from "tuntas/queue/remote";
import { makeClient, type ClientOptions } from "./client.ts";
import { findQueue } from "./find.ts";
import { startKeeper } from "./keeper.ts";
import { delaySecondsMax } from "./limits.ts";
import { makeRemote, type SqsRemote } from "./remote.ts";

export interface SqsOptions extends ClientOptions {
  /** Makes queues that are missing, with their dead-letter queues. By default they are refused. */
  readonly create?: boolean;
  /**
   * For how long a message stays hidden after the process that works on it has died, 2s to 12h; while it lives, it extends
   * that. 30s by default.
   */
  readonly lease?: Duration;
}

const optionNames: NamesOf<SqsOptions> = { create: true, lease: true, endpoint: true, region: true };

function leaseMsOf(lease: Duration): number {
  const leaseMs = toMs(lease, "sqs: lease");
  if (leaseMs >= 2000 && leaseMs <= 12 * 3_600_000 && leaseMs % 1000 === 0) return leaseMs;
  throw queueErrors.error(
    "TUNTAS_QUEUE_OPTIONS",
    `sqs: expected lease from 2s to 12h in whole seconds, got ${lease}`,
  );
}

function checkDelay({ name, options: { delay } }: QueueDefinition<any>): void {
  if (delay === undefined || toMs(delay) <= delaySecondsMax * 1000) return;
  throw queueErrors.error(
    "TUNTAS_QUEUE_OPTIONS",
    `queue ${JSON.stringify(name)}: expected delay of at most 15m, which is all that Amazon SQS has, got ${delay}`,
  );
}

/**
 * Declared queues live in Amazon SQS; region, credentials and endpoint come by the SDK's usual ways (AWS_REGION,
 * AWS_PROFILE, a role, AWS_ENDPOINT_URL_SQS). Errors: TUNTAS_QUEUE_OPTIONS.
 */
export function sqs(given: SqsOptions = {}): QueueService {
  refuseUnknown("sqs", given, optionNames);
  const { create = false, lease = "30s", ...options } = given;
  const leaseMs = leaseMsOf(lease);
  return {
    async open(wanted: readonly Wanted[], parts: ServiceParts): Promise<OpenService> {
      wanted.forEach(({ queue }) => checkDelay(queue));
      const client = makeClient(options);
      const found = await Promise.all(wanted.map((each) => findQueue(client, each, create))).catch(
        (cause: unknown) => {
          client.destroy();
          throw cause;
        },
      );
      const keeper = startKeeper(parts, { ...options, leaseMs });
      const remotes = new Map<QueueDefinition, SqsRemote>(
        wanted.map(({ queue }, index) => [
          queue,
          makeRemote({
            client,
            found: found[index]!,
            fifo: queue.name.endsWith(".fifo"),
            leaseSeconds: leaseMs / 1000,
            keeper,
          }),
        ]),
      );
      return {
        of: (queue) => remotes.get(queue)!,
        async close() {
          await Promise.all([...remotes.values()].map((remote) => remote.idle()));
          await keeper.close();
          client.destroy();
        },
      };
    },
  };
}
