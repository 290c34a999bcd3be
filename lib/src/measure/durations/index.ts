// How long handlers take, and calls to providers, and requests, kept where `tuntas check` and the console find it: counted
// in memory, written once a minute for all of the process in one statement. Where nothing ran, nothing is written and no timer goes.
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Log } from "../../engine/log.ts";
import { channelName } from "../../engine/signals.ts";
import type { Sql } from "../../pg/contract.ts";
import { bucketOf, emptyHistogram, type Histogram } from "./state.ts";
import { addDurations } from "./store.ts";

export { readDurations, type MeasuredHandler } from "./store.ts";

const everyMs = 60_000;
const attempts = {
  [channelName("worker.attempt")]: ({ queue }: { queue: string }) => queue,
  [channelName("workflow.attempt")]: ({ workflow, task }: { workflow: string; task: string }) =>
    `${workflow}/${task}`,
  [channelName("effect.called")]: ({ provider, operation }: { provider: string; operation: string }) =>
    `${provider} ${operation}`,
  [channelName("http.request")]: ({ service }: { service: string }) => `http ${service}`,
};

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

  function histogramOf(handler: string): Histogram {
    const made = emptyHistogram();
    histograms.set(handler, made);
    timer ??= setTimeout(() => void flush(), everyMs).unref();
    return made;
  }

  // What was no attempt of a handler's (a duplicate, a body that is not JSON) took no time.
  const listeners = Object.entries(attempts).map(([channel, nameOf]) => {
    const hear = (message: unknown): void => {
      const { durationMs } = message as { durationMs: number };
      if (durationMs <= 0) return;
      const handler = nameOf(message as never);
      (histograms.get(handler) ?? histogramOf(handler))[bucketOf(durationMs)]!++;
    };
    subscribe(channel, hear);
    return { channel, hear };
  });

  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const written = histograms;
    histograms = new Map();
    await addDurations(database, written).catch((cause: unknown) =>
      log.debug({ cause }, "how long handlers took could not be written"),
    );
  }

  return {
    flush,
    async close() {
      for (const { channel, hear } of listeners) unsubscribe(channel, hear);
      await flush();
    },
  };
}
