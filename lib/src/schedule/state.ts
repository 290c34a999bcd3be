// What a schedule decides, purely: which instants have become due, and what is done with each.
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
} from "./contract.ts";

/** When a schedule is due. */
export interface Clockwork {
  readonly expression: Expression;
  readonly zone: Zone;
  readonly recurrence: Recurrence;
}

export function clockworkOf(of: {
  readonly expression: string;
  readonly timeZone: string;
  readonly anchorMs: number;
}): Clockwork {
  const [expression, zone] = [parseExpression(of.expression), zoneOf(of.timeZone)];
  return { expression, zone, recurrence: recurrence(expression, zone, of.anchorMs) };
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
}

type Verdict = Pick<Decision, "state" | "reason">;

const iso = (ms: number): string => formatTimestamp(ms).replace(".000Z", "Z");

/** Why a missed occurrence is let go; undefined where the rule has it caught up. */
function letGo({ catchUp, catchUpWithinMs }: Rules, lateMs: number, isLast: boolean): string | undefined {
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

/** What becomes of the instants, in order; their windows tile the line from `windowStartMs` on. */
export function decide(options: {
  readonly due: readonly number[];
  readonly nowMs: number;
  readonly windowStartMs: number;
  readonly rules: Rules;
  readonly underway: Underway;
}): Decision[] {
  const { due, nowMs, rules } = options;
  let { windowStartMs, underway } = options;
  return due.map((dueMs, index) => {
    const lateMs = nowMs - dueMs;
    const reason = lateMs > onTimeMs ? letGo(rules, lateMs, index === due.length - 1) : undefined;
    const verdict: Verdict = reason === undefined ? beside(rules, underway) : { state: "missed", reason };
    const decision = { dueMs, windowStartMs, ...verdict };
    if (verdict.state === "started") underway = { ...underway, running: dueMs };
    if (verdict.state === "waiting") underway = { ...underway, waiting: underway.waiting + 1 };
    windowStartMs = dueMs;
    return decision;
  });
}

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
