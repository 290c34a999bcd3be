// What watches over all work, put together: what this process counts, and the figures of all that one process samples.
import type { Log } from "../engine/log.ts";
import type { Sql } from "../pg/contract.ts";
import { makeTimeSeries, type TimeSeries } from "../series/client.ts";
import { metricLists } from "./catalogue.ts";
import { startDurations } from "./durations/index.ts";
import { startSampler, type Sampler } from "./sampler.ts";
import { startTally, type Tally } from "./tally.ts";

export interface WatchOptions {
  readonly database: Sql;
  readonly log: Log;
  readonly processId: () => string;
  /** False for a process of a moment: it counts, and leaves the rest to others. */
  readonly watches: boolean;
  /** Tells the other processes that the duty of sampling is free. */
  readonly onLeft: () => void;
}

export interface Watch {
  readonly tally: Tally;
  readonly series: TimeSeries;
  readonly sampler: Sampler;
  close(): Promise<void>;
}

export function startWatch({ watches, ...options }: WatchOptions): Watch {
  const series = makeTimeSeries(options.database);
  const tally = startTally(metricLists);
  const durations = startDurations(options);
  const sampler = startSampler({
    ...options,
    series,
    tally,
    maySample: watches,
    onLooked: async () => undefined,
  });
  return {
    tally,
    series,
    sampler,
    async close() {
      await sampler.close();
      await durations.close();
      tally.close();
    },
  };
}
