// A queue's figures over time, put on one axis.
import type { Point, Series } from "tuntas/series";
import type { QueueSeries, SeriesReads } from "../../api/index.ts";
import type { Fields } from "../fields.ts";
import type { Needs, ReadsOf } from "../needs.ts";

const bucketsWanted = 120;
const paceMinutes = 5;
/** Outcomes after which the message is tried again. */
const again = new Set(["retry", "conflict"]);

type Pick = (point: Point) => number;
const sumOf: Pick = ({ sum }) => sum;
const lastOf: Pick = ({ last }) => last;
const maxOf: Pick = ({ max }) => max;

interface Range {
  readonly fromMs: number;
  readonly toMs: number;
  readonly stepMs: number;
}

async function rangeOf({ platform: { series } }: Needs, minutes: number): Promise<Range> {
  const toMs = await series.nowMs();
  return {
    fromMs: toMs - minutes * 60_000,
    toMs,
    stepMs: Math.max(10_000, (minutes * 60_000) / bucketsWanted),
  };
}

/** The values by instant, those of several series added up. */
function byInstant(all: readonly Series[], pick: Pick): Map<number, number> {
  const values = new Map<number, number>();
  for (const { points } of all)
    for (const point of points) values.set(point.atMs, (values.get(point.atMs) ?? 0) + pick(point));
  return values;
}

const stepOf = (axis: readonly number[], wanted: number): number =>
  axis.length < 2 ? wanted : Math.min(...axis.slice(1).map((at, index) => at - axis[index]!));

async function readQueue(needs: Needs, queue: string, range: Range): Promise<QueueSeries> {
  const { series } = needs.platform;
  const read = (name: string, labels = {}) => series.read({ name, labels: { queue, ...labels }, ...range });
  const [attempts, depth, age, marks] = await Promise.all([
    read("tuntas_worker_attempts_total"),
    read("tuntas_queue_depth", { state: "ready" }),
    read("tuntas_queue_oldest_age_seconds"),
    series.marks(range),
  ]);
  const isDone = ({ labels }: Series) => labels.outcome === "done" || labels.outcome === "duplicate";
  const done = byInstant(attempts.filter(isDone), sumOf);
  const failed = byInstant(
    attempts.filter((each) => !isDone(each)),
    sumOf,
  );
  const [ready, oldest] = [byInstant(depth, lastOf), byInstant(age, maxOf)];
  const atMs = [...new Set([...ready.keys(), ...oldest.keys(), ...done.keys(), ...failed.keys()])].toSorted(
    (one, other) => one - other,
  );
  const stepMs = stepOf(atMs, range.stepMs);
  // The last bucket still fills: its rate is not known yet.
  const perMinute = (values: Map<number, number>) =>
    atMs.map((at) => (at + stepMs > range.toMs ? null : ((values.get(at) ?? 0) * 60_000) / stepMs));
  return {
    atMs,
    stepMs,
    donePerMinute: perMinute(done),
    failedPerMinute: perMinute(failed),
    ready: atMs.map((at) => ready.get(at) ?? null),
    oldestAgeSeconds: atMs.map((at) => oldest.get(at) ?? null),
    marks: marks.filter(({ kind, subject }) => kind !== "configuration" || subject === `queue ${queue}`),
  };
}

async function readPace(needs: Needs, queue: string) {
  const range = await rangeOf(needs, paceMinutes);
  const attempts = await needs.platform.series.read({
    name: "tuntas_worker_attempts_total",
    labels: { queue },
    ...range,
  });
  const count = (of: readonly Series[]) =>
    of.flatMap(({ points }) => points).reduce((total, { sum }) => total + sum, 0);
  const outcome = (wanted: (outcome: string) => boolean) =>
    count(attempts.filter(({ labels }) => wanted(labels.outcome ?? "")));
  const all = count(attempts);
  return {
    donePerMinute: outcome((each) => each === "done" || each === "duplicate") / paceMinutes,
    retryShare: all === 0 ? null : outcome((each) => again.has(each)) / all,
  };
}

const minutesOf = (query: Fields): number => query.integer("minutes", { min: 5, max: 21_600 }) ?? 60;

export const seriesReads = (needs: Needs): ReadsOf<Exclude<keyof SeriesReads, "queue.answers">> => ({
  "queue.series": async (query) =>
    readQueue(needs, query.text("queue"), await rangeOf(needs, minutesOf(query))),
  "queue.pace": (query) => readPace(needs, query.text("queue")),
});
