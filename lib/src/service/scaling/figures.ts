// What a scaling rule by a queue is asked with: the queue as it is at this moment, and from the time series what processes
// have counted lately, which they tell every ten seconds.
import { readOpenMs } from "../../ledger/index.ts";
import type { Sql } from "../../pg/contract.ts";
import type { Queues } from "../../queue/client/index.ts";
import { defaultScope } from "../../queue/contract.ts";
import type { TimeSeries } from "../../series/client.ts";
import type { Labels, Series } from "../../series/contract.ts";
import type { QueueFigures, QueueRule } from "./contract.ts";

export interface FigureSources {
  readonly database: Sql;
  readonly queues: Pick<Queues, "observer">;
  readonly series: Pick<TimeSeries, "readAll">;
}

export type FiguresOf = (
  rule: QueueRule,
  at: { readonly nowMs: number; readonly running: number },
) => Promise<QueueFigures>;

/** Requests in the last minute for each instance that runs; a service is named as in TUNTAS_SERVICE. */
export type RequestsOf = (
  service: string,
  at: { readonly nowMs: number; readonly running: number },
) => Promise<number>;

const minuteMs = 60_000;
const latelyMs = 5 * minuteMs;
const stepMs = 10_000;

const names = {
  sent: "tuntas_queue_messages_total",
  attempts: "tuntas_worker_attempts_total",
  attemptMs: "tuntas_worker_attempt_milliseconds_total",
  failures: "tuntas_worker_retryable_failures_total",
  deadLetters: "tuntas_queue_dead_letters",
  calls: "tuntas_downstream_calls_total",
  callMs: "tuntas_downstream_call_milliseconds_total",
} as const;
const { calls, callMs, ...ofQueue } = names;
const requests = "tuntas_http_requests_total";

/** Those that were made, and took time. */
const made = ["ok", "failed", "timeout"];
/** Attempts that fail with these made no call: there were too many already. */
const throttled = ["TUNTAS_EFFECT_THROTTLED", "TUNTAS_DOWNSTREAM_FULL"];
const again = ["retry", "conflict"];

/** Sums of counters since an instant, of series whose labels pass. */
const summer =
  (all: readonly Series[]) =>
  (name: string, sinceMs: number, has: (labels: Labels) => boolean = () => true): number =>
    all
      .filter((series) => series.name === name && has(series.labels))
      .flatMap(({ points }) => points.filter(({ atMs }) => atMs >= sinceMs))
      .reduce((sum, point) => sum + point.sum, 0);

const share = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole);
const mean = (sum: number, count: number): number | null => (count === 0 ? null : sum / count);

function ratesOf(all: readonly Series[], nowMs: number) {
  const sum = summer(all);
  const sinceMs = nowMs - minuteMs;
  const attempts = sum(names.attempts, sinceMs);
  const retried = sum(names.attempts, sinceMs, ({ outcome = "" }) => again.includes(outcome));
  const refused = sum(names.failures, sinceMs, ({ code = "" }) => throttled.includes(code));
  return {
    producedPerMinute: sum(names.sent, sinceMs, ({ event }) => event === "sent"),
    processedPerMinute: attempts - retried,
    endedLately: sum(names.attempts, nowMs - latelyMs),
    processingMs: mean(sum(names.attemptMs, sinceMs), attempts),
    downstreamMs: mean(
      sum(callMs, sinceMs),
      sum(calls, sinceMs, ({ outcome = "" }) => made.includes(outcome)),
    ),
    retryShare: share(retried, attempts),
    throttledShare: share(refused, attempts),
  };
}

/** As few as there were in that time; what is not known has not grown. */
const fewestDead = (all: readonly Series[], now: number): number =>
  Math.min(
    now,
    ...all
      .filter(({ name }) => name === names.deadLetters)
      .flatMap(({ points }) => points.map(({ min }) => min)),
  );

export const makeRequests =
  (series: FigureSources["series"]): RequestsOf =>
  async (service, { nowMs, running }) => {
    const fromMs = nowMs - minuteMs;
    const asked = { names: [requests], labels: { service }, fromMs, toMs: nowMs, stepMs };
    return summer(await series.readAll(asked))(requests, fromMs) / Math.max(1, running);
  };

export function makeFigures({ database, queues, series }: FigureSources): FiguresOf {
  const read = (of: readonly string[], labels: Labels, nowMs: number) =>
    series.readAll({ names: of, labels, fromMs: nowMs - latelyMs, toMs: nowMs, stepMs });

  return async ({ queue, downstream }, { nowMs, running }) => {
    const [[survey], ofWork, ofCalls, openMs] = await Promise.all([
      queues.observer.survey(defaultScope, { only: queue, search: "", after: "", limit: 1 }),
      read(Object.values(ofQueue), { queue }, nowMs),
      downstream ? read([calls, callMs], { downstream: downstream.name }, nowMs) : [],
      downstream ? readOpenMs(database, downstream.name) : null,
    ]);
    const dead = (survey?.dead ?? 0) + (survey?.quarantined ?? 0);
    const backlog = survey?.ready ?? 0;
    // What was counted in the step before may have been told in this one.
    const refused = summer(ofCalls)(calls, nowMs - 2 * stepMs, ({ outcome }) => outcome === "open");
    return {
      backlog,
      backlogPerInstance: backlog / Math.max(1, running),
      oldestAgeSeconds: (survey?.oldestAgeMs ?? 0) / 1000,
      inFlight: survey?.inFlight ?? 0,
      paused: (survey?.pausedAtMs ?? null) !== null,
      ...ratesOf([...ofWork, ...ofCalls], nowMs),
      downstreamOpen: openMs !== null || refused > 0,
      deadLetterGrowth: dead - fewestDead(ofWork, dead),
    };
  };
}
