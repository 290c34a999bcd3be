// What a caller of the schedule room sees: what a schedule is declared by, how it stands, what became of its occurrences,
// and the error codes. When an expression is due is said in core/cron.
import type { Duration } from "../core/duration.ts";
import { catalogue } from "../core/error.ts";
import type { Order } from "../engine/destination.ts";
import type { TargetName } from "../engine/target.ts";
import type { Scope } from "../queue/contract.ts";

export const overlaps = ["skip", "allow", "queue"] as const;
export type Overlap = (typeof overlaps)[number];

/** What becomes of occurrences that nobody was there for; those that are older than the duration are let go. */
export type CatchUp = "skip" | { readonly latest: Duration } | { readonly all: Duration };

export const weekdays = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"] as const;

/** Days on which the work is not done. */
export interface Holidays {
  /** In the schedule's zone: `2026-12-25`. */
  readonly dates: readonly string[];
  /** Days of every week, such as `["SAT", "SUN"]`. */
  readonly weekdays?: readonly (typeof weekdays)[number][];
  /** What falls on one is skipped, on record, or begins at the same time of the next day that is none. */
  readonly rule: "skip" | "move";
}

export interface ScheduleOptions {
  /** `cron(0 2 * * ? *)`, `rate(5 minutes)` or `at(2026-03-01T09:00:00)` as for EventBridge Scheduler, or crontab's five fields. */
  readonly when: string;
  /** An IANA name such as `Asia/Jakarta`, or a fixed offset such as `+07:00`. */
  readonly timeZone: string;
  /**
   * What happens while the work of an occurrence still runs: the next one is skipped for good, is started beside it, or
   * waits its turn.
   */
  readonly overlap: Overlap;
  readonly catchUp: CatchUp;
  /** A declared queue or workflow, or another target of announcements. */
  readonly target: TargetName;
  /** Given to the work beside `window`, `scheduledAt` and `schedule`. */
  readonly input?: Readonly<Record<string, unknown>>;
  /** How long after it is due an occurrence must have succeeded; the alarm `schedule-overdue` tells where none has. */
  readonly succeedsWithin: Duration;
  readonly holidays?: Holidays;
  /** Work begins anywhere within this after it is due, so that not everything begins at the full hour; 1s to 1d. */
  readonly flexible?: Duration;
  /** How often work that cannot be begun is tried, the first time included, and for how long; 186 times within a day by default. */
  readonly retry?: { readonly attempts: number; readonly within: Duration };
  /** The declared queue that is told of work that could not be begun. */
  readonly deadLetter?: TargetName;
  /** How long ended occurrences stay on record; 30d by default. */
  readonly retention?: Duration;
  readonly owner: string;
  /** What they read first: a path or an address. */
  readonly runbook: string;
}

export interface ScheduleDefinition {
  readonly kind: "schedule";
  readonly name: string;
  readonly options: ScheduleOptions;
}

/** What the work of an occurrence gets, with the schedule's own `input` beside it. Instants are ISO 8601 in UTC. */
export interface OccurrenceInput {
  readonly schedule: string;
  /** The instant it was due at. */
  readonly scheduledAt: string;
  /** What it is about: from `start` on, up to and without `end`. The windows of consecutive occurrences leave no gap. */
  readonly window: { readonly start: string; readonly end: string; readonly timeZone: string };
}

export type OccurrenceState = "waiting" | "started" | "succeeded" | "failed" | "skipped" | "missed";

export interface Occurrence {
  readonly dueMs: number;
  /** 0 for the schedule's own; a person's runs of the same window are 1 and up. */
  readonly run: number;
  readonly windowStartMs: number;
  readonly windowEndMs: number;
  readonly state: OccurrenceState;
  readonly reason: string | null;
  readonly actor: string | null;
  readonly target: TargetName;
  /** What its work is known by: the number of a message, the ARN of an execution, the row of an announcement. */
  readonly reference: string | null;
  readonly decidedAtMs: number;
  /** Of one that waits: not before this, by its flexible window or until it is tried again; null where it waits for others. */
  readonly beginAtMs: number | null;
  /** How often it was tried in vain to begin its work. */
  readonly tries: number;
  readonly startedAtMs: number | null;
  readonly endedAtMs: number | null;
  /** How many records its work wrote: a batch's rows, an execution's output as a job's result says it; null where nobody knows. */
  readonly recordsWritten: number | null;
}

export interface ScheduleReport {
  readonly name: string;
  readonly expression: string;
  readonly timeZone: string;
  readonly target: TargetName;
  readonly overlap: Overlap;
  readonly catchUp: "skip" | "latest" | "all";
  /** Null for one that no code declares. */
  readonly owner: string | null;
  readonly runbook: string | null;
  /** Null where the expression has no further instant. */
  readonly nextDueMs: number | null;
  /** By when a success is expected; null where none is. */
  readonly expectedByMs: number | null;
  readonly overdue: boolean;
  readonly lastSuccessAtMs: number | null;
  readonly pausedAtMs: number | null;
  readonly pausedBy: string | null;
  readonly pausedReason: string | null;
  /** How many run, and how many wait for their turn. */
  readonly running: number;
  readonly waiting: number;
  /** The latest occurrence; null before the first. */
  readonly last: Pick<Occurrence, "dueMs" | "run" | "state" | "reason"> | null;
}

/** How often, and for how long, work that could not be begun is tried again. */
export interface RetryPolicy {
  readonly retriesMax: number;
  readonly retryWithinMs: number;
}

/** EventBridge Scheduler's: 185 times within a day. */
export const defaultRetry: RetryPolicy = { retriesMax: 185, retryWithinMs: 86_400_000 };

/** A schedule's name over the wire: it is unique within its group, and a group within account and region. */
export interface Place extends Scope {
  readonly group: string;
  readonly name: string;
}

/** A schedule that no code declares: what EventBridge Scheduler knows of one. */
export interface Arrangement extends RetryPolicy {
  readonly place: Place;
  readonly expression: string;
  readonly timeZone: string;
  readonly target: TargetName;
  /** A text in which EventBridge's keywords, such as `<aws.scheduler.scheduled-time>`, are filled in. */
  readonly input: string;
  /** What goes with the work beside its input; keywords are filled in here too. */
  readonly extras: Partial<Order>;
  readonly startsMs: number | null;
  readonly endsMs: number | null;
  /** Work begins anywhere within this after it is due. */
  readonly flexibleMs: number;
  /** The queue that is told of work that could not be begun: its name or ARN. */
  readonly deadLetter: string | null;
  /** Whether the schedule stays when nothing of it is due any more. */
  readonly afterwards: "keep" | "remove";
  readonly enabled: boolean;
  readonly description: string | null;
  /** The target as it was asked for: JSON text. Null for a schedule that code declares. */
  readonly request: string | null;
}

/** An arrangement as it stands, or a declared schedule in the same words. */
export interface Arranged extends Arrangement {
  readonly declared: boolean;
  readonly createdAtMs: number;
  readonly changedAtMs: number;
}

export interface Group extends Scope {
  readonly name: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly createdAtMs: number;
  readonly changedAtMs: number;
}

/** Who asks; requests with the same token are one request. */
export interface Asker {
  readonly by: string;
  readonly token: string | undefined;
}

/** An instant to come, the local times before it that a change of the clocks leaves out, and its holiday. */
export interface Upcoming {
  readonly dueMs: number;
  readonly leftOut: readonly string[];
  /** The holiday that it is on; null where it is on none. */
  readonly holiday: string | null;
  /** When it begins instead; null where it does not, or where it is on no holiday. */
  readonly movedToMs: number | null;
}

export interface Act {
  readonly by: string;
  readonly reason: string;
}

/** What is not found this soon after it was due counts as missed. */
export const onTimeMs = 15_000;

/** The most that are caught up at once, and that wait for their turn. */
export const occurrencesMax = 1000;

export const scheduleErrors = catalogue({
  TUNTAS_SCHEDULE_OPTIONS: {
    meaning: "The declaration of a schedule leaves out what must be said, or says what cannot be.",
    remedy:
      "Say what the message names: time zone, overlap, catch-up, owner and runbook have no defaults, because each default is wrong for somebody.",
  },
  TUNTAS_SCHEDULE_REGISTERED: {
    meaning: "Two schedules of an application have the same name.",
    remedy: "Give one of them another name.",
  },
  TUNTAS_SCHEDULE_MISSING: {
    meaning: "There is no schedule of that name.",
    remedy: "See the names with `tuntas schedule list`.",
  },
  TUNTAS_SCHEDULE_TARGET: {
    meaning:
      "A schedule starts a queue or a workflow that its application does not declare, or that does not take what it gives.",
    remedy:
      "Put the queue or the workflow into the application too, and let its schema take schedule, scheduledAt, window and the schedule's input.",
  },
  TUNTAS_SCHEDULE_WINDOW: {
    meaning: "The schedule has no window that could be run.",
    remedy: "Name the instant of an occurrence, as `tuntas schedule show NAME` lists them.",
  },
});
