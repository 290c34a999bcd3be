// How long handlers take, kept where `tuntas check` and the console find it: counted in memory, written once a minute for
// all queues of the process in one statement. Where nothing ran, nothing is written and no timer goes.
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Log } from "../../engine/log.ts";
import { channelName } from "../../engine/signals.ts";
import type { Sql } from "../../pg/contract.ts";
import { bucketOf, emptyHistogram, type Histogram } from "./state.ts";
import { addDurations } from "./store.ts";

export { readDurations, type MeasuredHandler } from "./store.ts";

const everyMs = 60_000;
const attempt = channelName("worker.attempt");

export interface Durations {
  /** Writes what was counted and not yet written. */
  flush(): Promise<void>;
  /** Counts nothing more, and writes the rest. */
  close(): Promise<void>;
}

export interface DurationsOptions {
  readonly database: Sql;
  readonly log: Pick<Log, "debug">;
}

export function startDurations({ database, log }: DurationsOptions): Durations {
  let histograms = new Map<string, Histogram>();
  let timer: NodeJS.Timeout | undefined;

  function histogramOf(queue: string): Histogram {
    const made = emptyHistogram();
    histograms.set(queue, made);
    timer ??= setTimeout(() => void flush(), everyMs).unref();
    return made;
  }

  // What was no attempt of a handler's (a duplicate, a body that is not JSON) took no time.
  function hear(message: unknown): void {
    const { queue, durationMs } = message as { queue: string; durationMs: number };
    if (durationMs > 0) (histograms.get(queue) ?? histogramOf(queue))[bucketOf(durationMs)]!++;
  }

  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const written = histograms;
    histograms = new Map();
    await addDurations(database, written).catch((cause: unknown) =>
      log.debug({ cause }, "how long handlers took could not be written"),
    );
  }

  subscribe(attempt, hear);
  return {
    flush,
    async close() {
      unsubscribe(attempt, hear);
      await flush();
    },
  };
}
