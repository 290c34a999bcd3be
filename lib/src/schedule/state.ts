// What a schedule decides, purely: which instants have become due, and what is done with each.
import { backoffMs, type Backoff } from "../core/backoff.ts";
import { formatTimestamp } from "../core/timestamp.ts";
import {
  type Expression,
  leftOut,
  parseExpression,
  type Recurrence,
  recurrence,
  zoneOf,
  type Zone,
} from "../core/cron/index.ts";
import {
  type OccurrenceInput,
  occurrencesMax,
  onTimeMs,
  type OccurrenceState,
  type Overlap,
  type RetryPolicy,
} from "./contract.ts";
import type { Closed, ClosedAt } from "./holidays.ts";

/** When a schedule is due. */
export interface Clockwork {
  readonly expression: Expression;
  readonly zone: Zone;
  readonly recurrence: Recurrence;
}

export interface Timetable {
  readonly expression: string;
  readonly timeZone: string;
  readonly anchorMs: number;
  readonly startsMs: number | null;
  readonly endsMs: number | null;
}

/** The instants from the one to the other, both included. */
function between({ next, previous }: Recurrence, { startsMs, endsMs }: Timetable): Recurrence {
  const [first, last] = [startsMs ?? -Infinity, endsMs ?? Infinity];
  const within = (instant: number | undefined) =>
    instant !== undefined && instant >= first && instant <= last ? instant : undefined;
  return {
    next: (after) => within(next(Math.max(after, first - 1))),
    previous: (before) => within(previous(Math.min(before, last + 1))),
  };
}

/** When it is due. A one-time schedule knows no start and no end, as EventBridge has it. */
export function clockworkOf(of: Timetable): Clockwork {
  const [expression, zone] = [parseExpression(of.expression), zoneOf(of.timeZone)];
  const always = recurrence(expression, zone, of.anchorMs);
  return { expression, zone, recurrence: expression.kind === "at" ? always : between(always, of) };
}

/** Where the window of the first occurrence begins: one instant or one period earlier. */
export function windowStartOf({ expression, recurrence }: Clockwork, dueMs: number): number {
  if (expression.kind === "rate") return dueMs - expression.periodMs;
  return recurrence.previous(dueMs) ?? dueMs;
}

/** The local times before the instant that a change of the clocks left out. */
export function leftOutBefore({ expression, zone, recurrence }: Clockwork, dueMs: number): string[] {
  const before = recurrence.previous(dueMs);
  return before === undefined ? [] : leftOut(expression, zone, [before, dueMs]);
}

export interface DueInstants {
  /** In order; the last thousand where there are more. */
  readonly instants: readonly number[];
  /** The first that became due, where it is not among them. */
  readonly beyond: number | undefined;
}

/** What has become due from `first` on, up to now. Bounded, however long nobody looked. */
export function dueInstants({ recurrence }: Clockwork, first: number, nowMs: number): DueInstants {
  const instants: number[] = [];
  let each = recurrence.previous(nowMs + 1);
  while (each !== undefined && each >= first && instants.length < occurrencesMax) {
    instants.push(each);
    each = recurrence.previous(each);
  }
  return { instants: instants.toReversed(), beyond: each !== undefined && each >= first ? first : undefined };
}

export interface Rules {
  readonly overlap: Overlap;
  readonly catchUp: "skip" | "latest" | "all";
  readonly catchUpWithinMs: number;
  readonly flexibleMs: number;
}

/** What is under way when the instants become due. */
export interface Underway {
  /** The instant of an occurrence whose work still runs. */
  readonly running: number | undefined;
  readonly waiting: number;
}

export interface Decision {
  readonly dueMs: number;
  readonly windowStartMs: number;
  readonly state: Extract<OccurrenceState, "waiting" | "started" | "skipped" | "missed">;
  readonly reason: string | null;
  /** When its work begins, where that is not now. */
  readonly beginAtMs: number | null;
}

type Verdict = Pick<Decision, "state" | "reason">;

/** `2026-11-30T02:00:00Z`. */
export const iso = (ms: number): string => formatTimestamp(ms).replace(".000Z", "Z");

interface Late {
  readonly lateMs: number;
  /** Whether it is the last of those that have become due. */
  readonly isLast: boolean;
}

/** Undefined where it is on time, or the rule has it caught up. */
function missed(rules: Rules, late: Late): Verdict | undefined {
  const reason = late.lateMs > onTimeMs ? letGo(rules, late) : undefined;
  return reason === undefined ? undefined : { state: "missed", reason };
}

/** Why a missed occurrence is let go; undefined where the rule has it caught up. */
function letGo({ catchUp, catchUpWithinMs }: Rules, { lateMs, isLast }: Late): string | undefined {
  const late = `nobody was there until ${Math.round(lateMs / 1000)} s later`;
  if (catchUp === "skip") return `${late}, and catchUp is "skip"`;
  if (lateMs > catchUpWithinMs) return `${late}, and it is caught up within ${catchUpWithinMs / 1000} s only`;
  if (catchUp === "latest" && !isLast) return `${late}, when a later one was due`;
  return undefined;
}

function beside({ overlap }: Rules, { running, waiting }: Underway): Verdict {
  if (overlap === "allow") return { state: "started", reason: null };
  if (running === undefined && waiting === 0) return { state: "started", reason: null };
  if (overlap === "skip")
    return {
      state: "skipped",
      reason: running === undefined ? "another waits" : `the one of ${iso(running)} still runs`,
    };
  if (waiting >= occurrencesMax) return { state: "skipped", reason: `${waiting} wait already` };
  return { state: "waiting", reason: null };
}

/** Undefined where it was moved to a time that has come. */
function onHoliday({ date, movedToMs }: Closed, isMoved: boolean): Verdict | undefined {
  if (movedToMs === undefined) return { state: "skipped", reason: `${date} is a holiday` };
  return isMoved ? { state: "waiting", reason: `moved from ${date}, a holiday` } : undefined;
}

/** What becomes of the instants, in order; their windows tile the line from `windowStartMs` on. */
export function decide(options: {
  readonly due: readonly number[];
  readonly nowMs: number;
  readonly windowStartMs: number;
  readonly rules: Rules;
  readonly underway: Underway;
  readonly closedAt: ClosedAt;
  readonly random: () => number;
}): Decision[] {
  const { due, nowMs, rules, closedAt, random } = options;
  let { windowStartMs, underway } = options;
  return due.map((dueMs, index) => {
    const closed = closedAt(dueMs);
    const firstMs = closed?.movedToMs ?? dueMs;
    const isMoved = firstMs > nowMs;
    const late = { lateMs: nowMs - firstMs, isLast: index === due.length - 1 };
    const verdict = (closed && onHoliday(closed, isMoved)) ?? missed(rules, late) ?? beside(rules, underway);
    const decision = { dueMs, windowStartMs, beginAtMs: null, ...verdict };
    if (verdict.state === "started") underway = { ...underway, running: dueMs };
    if (verdict.state === "waiting") underway = { ...underway, waiting: underway.waiting + 1 };
    windowStartMs = dueMs;
    const beginAtMs = firstMs + Math.floor(random() * rules.flexibleMs);
    if ((verdict.state !== "started" && !isMoved) || beginAtMs <= nowMs) return decision;
    return { ...decision, state: "waiting", beginAtMs };
  });
}

/** So that EventBridge's 185 tries take about its day. */
const retryBackoff: Backoff = { baseMs: 1000, maxMs: 10 * 60_000 };

/** What becomes of work that could not be begun: tried again, or given up for one of the policy's bounds. */
export type Retry =
  | { readonly againAtMs: number }
  | { readonly exhausted: "MaximumRetryAttempts" | "MaximumEventAgeInSeconds" };

export function retry(options: {
  /** With the one that has just failed. */
  readonly tries: number;
  readonly firstTryMs: number;
  readonly nowMs: number;
  readonly policy: RetryPolicy;
  readonly random: number;
}): Retry {
  const { tries, firstTryMs, nowMs, policy, random } = options;
  const lastMs = firstTryMs + policy.retryWithinMs;
  if (tries > policy.retriesMax) return { exhausted: "MaximumRetryAttempts" };
  if (nowMs >= lastMs) return { exhausted: "MaximumEventAgeInSeconds" };
  return { againAtMs: Math.min(nowMs + backoffMs(retryBackoff, tries, random), lastMs) };
}

/** What EventBridge fills in for its keywords, `<aws.scheduler.scheduled-time>` and the like. */
export interface Keywords {
  readonly "schedule-arn": string;
  readonly "scheduled-time": string;
  readonly "execution-id": string;
  readonly "attempt-number": string;
}

/** The text with its keywords filled in; what is no keyword stays as it is. */
export const filledIn = (text: string, keywords: Keywords): string =>
  text.replaceAll(
    /<aws\.scheduler\.(schedule-arn|scheduled-time|execution-id|attempt-number)>/g,
    (_, keyword: keyof Keywords) => keywords[keyword],
  );

/** What the work of an occurrence gets. */
export function inputOf(of: {
  readonly schedule: string;
  readonly timeZone: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly dueMs: number;
  readonly windowStartMs: number;
  readonly windowEndMs: number;
}): OccurrenceInput {
  return {
    ...of.input,
    schedule: of.schedule,
    scheduledAt: iso(of.dueMs),
    window: { start: iso(of.windowStartMs), end: iso(of.windowEndMs), timeZone: of.timeZone },
  };
}

/** `nightly-report-20261130T020000Z`, with the number of the run where a person asked for it. */
export function keyOf(schedule: string, dueMs: number, run: number): string {
  const instant = formatTimestamp(dueMs).replaceAll(/[-:]|\.\d+/g, "");
  return `${schedule}-${instant}${run === 0 ? "" : `-${run}`}`;
}
