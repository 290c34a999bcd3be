// Brings the figures into the time series. What this process counted, it adds itself, when there is something; what
// everybody shares (depths, ages), one process of all reads and writes where it changed. While nothing changes, nothing is
// asked and nothing is written.
import { holdsDuty, leaveDuty, takeDuty } from "../engine/duty.ts";
import type { Log } from "../engine/log.ts";
import type { Stillness } from "../engine/process/stillness.ts";
import type { Labels } from "../series/contract.ts";
import type { TimeSeries } from "../series/client.ts";
import { forgetOld, insertGap, latestGauges } from "../series/store.ts";
import type { Sql } from "../pg/contract.ts";
import { changesOf, isMoving, readingKey, type Written } from "./changes.ts";
import { makeCounts } from "./counts.ts";
import { readSnapshot } from "./gauges.ts";
import { makeOwnLoad } from "./own.ts";
import type { Tally } from "./tally.ts";

export interface SamplerOptions {
  readonly database: Sql;
  readonly series: TimeSeries;
  readonly tally: Tally;
  readonly log: Pick<Log, "warn" | "info">;
  readonly processId: () => string;
  /** False where this process is not to have the duty. */
  readonly maySample: boolean;
  /** Says every ten seconds whether anything has changed. */
  readonly stillness: Pick<Stillness, "onLook">;
  /** Called in the process that has the duty, after each look; `changed` where there was anything new. */
  readonly onLooked: (changed: boolean) => Promise<void>;
  /** Tells the other processes that the duty is free. */
  readonly onLeft: () => void;
}

export interface Sampler {
  /** Whoever had the duty may be gone: takes it if so. */
  consider(): Promise<void>;
  /** One round now, whatever has changed. */
  round(): Promise<void>;
  /** Whether this process has the duty. */
  isOnDuty(): boolean;
  close(): Promise<void>;
}

export const samplingDuty = "sampling";
const everyMs = 10_000;
const considerEveryMs = 60_000;
const forgetEveryMs = 600_000;

/** What this process knows of the shared figures while it has the duty. */
interface Watch {
  readonly written: Map<string, Written>;
  moving: boolean;
  forgotAtMs: number;
}

async function beginWatch(database: Sql): Promise<Watch> {
  const nowMs = performance.now();
  const latest = await latestGauges(database);
  const known = latest.map(({ name, labels, value }): [string, Written] => {
    const reading = { name, labels: JSON.parse(labels) as Labels, value: value ?? 0 };
    return [readingKey(reading), { reading, atMs: nowMs }];
  });
  return { written: new Map(known), moving: true, forgotAtMs: nowMs };
}

export function startSampler(options: SamplerOptions): Sampler {
  const { database, series, tally, log, processId, maySample, stillness, onLooked, onLeft } = options;
  const counts = makeCounts(database, tally);
  const own = makeOwnLoad();
  let watch: Watch | undefined;
  let consideredAtMs = -Infinity;
  let tail: Promise<void> = Promise.resolve();
  let closed = false;

  /** A failure is told and forgotten: figures are worth no more than that. */
  const safely = (work: () => Promise<void>): Promise<void> =>
    work().catch((cause: unknown) =>
      log.warn({ cause }, "figures could not be written and will be tried again"),
    );

  /** One round after another. */
  const queue = (work: () => Promise<void>): Promise<void> => (tail = tail.then(() => safely(work)));

  /** In one commit: who dies right after it leaves on the record that nobody looked before. */
  async function takeOver(sql: Pick<Sql, "run">): Promise<boolean> {
    const taken = await takeDuty(sql, samplingDuty, processId());
    if (taken && taken.untilMs !== null)
      await insertGap(sql, { fromMs: taken.untilMs, leastMs: 1.5 * everyMs });
    return taken !== undefined;
  }

  async function take(): Promise<void> {
    if (watch || closed || !maySample) return;
    consideredAtMs = performance.now();
    if (!(await database.transaction(takeOver))) return;
    watch = await beginWatch(database);
    log.info({ event: "measure.on_duty", processId: processId() }, "this process samples the figures of all");
  }

  async function tellCounts(): Promise<void> {
    const { samples, told } = await counts.fresh();
    if (samples.length === 0) return;
    await series.add([...samples, ...own.fresh()]);
    told();
    own.told();
  }

  async function sample(of: Watch): Promise<void> {
    const { readings } = await readSnapshot(database);
    const nowMs = performance.now();
    const changes = changesOf(readings, of.written, nowMs);
    await series.add(changes);
    for (const reading of changes) of.written.set(readingKey(reading), { reading, atMs: nowMs });
    of.moving = isMoving(readings);
    if (changes.length === 0 || nowMs - of.forgotAtMs < forgetEveryMs) return;
    of.forgotAtMs = nowMs;
    await forgetOld(database);
  }

  async function look(changed: boolean): Promise<void> {
    if (!watch) return;
    const isNews = changed || watch.moving;
    if (isNews) {
      if (!(await holdsDuty(database, samplingDuty, processId()))) return void (watch = undefined);
      await sample(watch);
    }
    await onLooked(isNews);
  }

  async function tell(): Promise<void> {
    if (!watch && performance.now() - consideredAtMs >= considerEveryMs) await take();
    await tellCounts();
  }

  async function round(): Promise<void> {
    await tell();
    await look(true);
  }

  stillness.onLook((changed) => void queue(() => look(changed)));
  const timer = setInterval(() => void queue(tell), everyMs);
  timer.unref();
  void queue(take);

  return {
    consider: () => queue(take),
    round: () => queue(round),
    isOnDuty: () => watch !== undefined,
    async close() {
      clearInterval(timer);
      closed = true;
      await queue(tellCounts);
      await queue(async () => {
        if (!watch) return;
        await leaveDuty(database, samplingDuty, processId());
        onLeft();
      });
    },
  };
}
