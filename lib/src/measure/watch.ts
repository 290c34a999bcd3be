// What watches over all work, put together: what this process counts, and the figures of all that one process samples.
import type { Log } from "../engine/log.ts";
import type { Stillness } from "../engine/process/stillness.ts";
import type { Targets } from "../engine/target.ts";
import { makeAlarms, type Alarms } from "../alarm/client.ts";
import { makeEvaluator, type Responsible } from "../alarm/evaluator.ts";
import { webhookKind, webhookTarget } from "../alarm/notify.ts";
import type { Labels } from "../series/contract.ts";
import type { Sql } from "../pg/contract.ts";
import { makeTimeSeries, type TimeSeries } from "../series/client.ts";
import { metricLists } from "./catalogue.ts";
import { findCulprit, isMeant } from "./culprits.ts";
import { startDurations } from "./durations/index.ts";
import { startSampler, type Sampler } from "./sampler.ts";
import { startTally, type Tally } from "./tally.ts";
import { startUsage } from "./usage/index.ts";

export interface WatchOptions {
  readonly database: Sql;
  readonly log: Log;
  readonly processId: () => string;
  readonly targets: Targets;
  /** Who answers for what an alarm watches, where the alarm does not say. */
  readonly ownerOf: (labels: Labels) => Promise<Responsible | undefined>;
  /** False for a process of a moment: it counts, and leaves the rest to others. */
  readonly watches: boolean;
  readonly stillness: Pick<Stillness, "onLook">;
  /** Tells the other processes that the duty of sampling is free. */
  readonly onLeft: () => void;
}

export interface Watch {
  readonly tally: Tally;
  readonly series: TimeSeries;
  readonly sampler: Sampler;
  readonly alarms: Alarms;
  /** Writes what this process counted, and looks at what all share, now. */
  sample(): Promise<void>;
  close(): Promise<void>;
}

export function startWatch(options: WatchOptions): Watch {
  const { database, targets, ownerOf, log, processId, onLeft, watches, stillness } = options;
  const series = makeTimeSeries(database);
  const tally = startTally(metricLists);
  const durations = startDurations(options);
  const usage = startUsage(options);
  const evaluator = makeEvaluator({
    database,
    series,
    ownerOf,
    isMeant: (metric, labels) => isMeant(database, metric, labels),
    culpritOf: (metric, labels) => findCulprit(database, metric, labels),
  });
  targets.bind({ kind: webhookKind }, webhookTarget(database));
  const sampler = startSampler({
    database,
    log,
    processId,
    onLeft,
    series,
    tally,
    maySample: watches,
    stillness,
    onLooked: evaluator.evaluate,
  });
  return {
    tally,
    series,
    sampler,
    async sample() {
      await usage.flush();
      await sampler.round();
    },
    alarms: makeAlarms({ database, series, targets, ownerOf }),
    async close() {
      await sampler.close();
      await durations.close();
      await usage.close();
      tally.close();
    },
  };
}
