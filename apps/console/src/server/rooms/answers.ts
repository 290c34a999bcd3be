// The figures that the ten questions of a worker are answered from.
import { readDurations } from "tuntas/measure";
import type { QueueRecord, QueueSurvey } from "tuntas/queue";
import type { Point, Series } from "tuntas/series";
import type { SeriesReads, WorkerAnswer } from "../../api/index.ts";
import { consoleErrors } from "../../contract.ts";
import type { Needs, ReadsOf } from "../needs.ts";
import { answersOf, type Course, type Deployment, type WorkerFigures } from "../questions.ts";
import { scopeOf } from "./queues.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const lately = 5 * minuteMs;
/** Before a deployment and after it, so long is compared. */
const aroundMs = 10 * minuteMs;

const isDone = ({ labels }: Series): boolean => labels.outcome === "done" || labels.outcome === "duplicate";

const within = (points: readonly Point[], fromMs: number, toMs: number): readonly Point[] =>
  points.filter(({ atMs }) => atMs >= fromMs && atMs < toMs);

const countOf = (all: readonly Series[], fromMs: number, toMs: number): number =>
  all.flatMap(({ points }) => within(points, fromMs, toMs)).reduce((total, { sum }) => total + sum, 0);

/** A gauge now and that long before; 0 where it was not known. */
function courseOf([series]: readonly Series[], beforeMs: number, nowMs: number): Course {
  const points = series?.points ?? [];
  const before = points.findLast(({ atMs }) => atMs <= nowMs - beforeMs) ?? points[0];
  return { now: points.at(-1)?.last ?? 0, before: before?.last ?? 0 };
}

/** How often there were fewer of them than a moment before. */
const fallsOf = ([series]: readonly Series[]): number =>
  (series?.points ?? []).filter(({ last }, index, all) => index > 0 && last < all[index - 1]!.last).length;

interface Attempts {
  readonly all: readonly Series[];
  readonly nowMs: number;
}

function shareOf({ all, nowMs }: Attempts): Course {
  const share = (fromMs: number, toMs: number): number => {
    const total = countOf(all, fromMs, toMs);
    return total === 0 ? 0 : 1 - countOf(all.filter(isDone), fromMs, toMs) / total;
  };
  return { now: share(nowMs - lately, nowMs), before: share(nowMs - hourMs, nowMs - lately) };
}

async function deploymentOf(
  { platform: { series } }: Needs,
  queue: string,
  nowMs: number,
): Promise<Deployment | null> {
  const marks = await series.marks({ fromMs: nowMs - 24 * hourMs, toMs: nowMs });
  const last = marks.findLast(({ kind }) => kind === "deployment");
  if (!last) return null;
  const [fromMs, toMs] = [last.atMs - aroundMs, Math.min(nowMs, last.atMs + aroundMs)];
  const name = "tuntas_worker_attempts_total";
  const all = await series.read({ name, labels: { queue }, fromMs, toMs, stepMs: minuteMs });
  const done = all.filter(isDone);
  const pace = (from: number, to: number): number =>
    countOf(done, from, to) / Math.max(1, (to - from) / minuteMs);
  return {
    text: last.text,
    minutesAgo: (nowMs - last.atMs) / minuteMs,
    donePerMinute: { before: pace(fromMs, last.atMs), now: pace(last.atMs, toMs) },
  };
}

/** What half of the attempts took at most, within this hour or the one before, and in the week. */
async function middleOf({ platform: { database } }: Needs, queue: string): Promise<Course> {
  const [now, before] = await Promise.all(
    [1 / 24, 7].map(async (days) =>
      (await readDurations(database, { days })).find(({ handler }) => handler === queue),
    ),
  );
  return { now: now?.p50Ms ?? 0, before: before?.p50Ms ?? 0 };
}

async function oldestMaxOf({ platform: { alarms } }: Needs): Promise<number> {
  const { when } = (await alarms.definition("oldest-message")).options;
  return Object.values(when)[0] as number;
}

async function figuresOf(needs: Needs, survey: QueueSurvey): Promise<WorkerFigures> {
  const { series } = needs.platform;
  const queue = survey.name;
  const nowMs = await series.nowMs();
  const range = { fromMs: nowMs - hourMs, toMs: nowMs, stepMs: minuteMs };
  const read = (name: string, labels = {}) => series.read({ name, labels: { queue, ...labels }, ...range });
  const [all, depth, dead, processes] = await Promise.all([
    read("tuntas_worker_attempts_total"),
    read("tuntas_queue_depth", { state: "ready" }),
    read("tuntas_queue_dead_letters"),
    read("tuntas_worker_processes"),
  ]);
  const done = countOf(all.filter(isDone), nowMs - lately, nowMs);
  return {
    isDeadLetterQueue: survey.isDeadLetterQueue,
    processes: survey.consumers,
    places: survey.globalConcurrency ?? survey.concurrency,
    inFlight: survey.inFlight,
    ready: { ...courseOf(depth, 10 * minuteMs, nowMs), now: survey.ready },
    oldestSeconds: (survey.oldestAgeMs ?? 0) / 1000,
    oldestMaxSeconds: await oldestMaxOf(needs),
    attempts: { done, failed: countOf(all, nowMs - lately, nowMs) - done },
    failedShare: shareOf({ all, nowMs }),
    dead: { ...courseOf(dead, hourMs, nowMs), now: survey.dead + survey.quarantined },
    middleMs: await middleOf(needs, queue),
    stops: fallsOf(processes),
    deployment: await deploymentOf(needs, queue, nowMs),
  };
}

/** Errors: TUNTAS_QUEUE_MISSING, TUNTAS_CONSOLE_MISSING. */
async function answers(needs: Needs, record: QueueRecord): Promise<WorkerAnswer[]> {
  const { name } = record;
  const page = { only: name, search: "", after: "", limit: 1 };
  const [survey] = await needs.platform.queues.observer.survey(record, page);
  if (!survey) throw consoleErrors.error("TUNTAS_CONSOLE_MISSING", `queue ${name} was deleted`);
  return answersOf(await figuresOf(needs, survey));
}

export const answerReads = (needs: Needs): ReadsOf<"queue.answers" & keyof SeriesReads> => ({
  "queue.answers": async (query) =>
    answers(needs, await needs.platform.queues.catalog.get(scopeOf(query), query.text("queue"))),
});
