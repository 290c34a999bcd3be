// What a caller of the alarm room sees: what an alarm is declared by, the states, and the error codes.
import { catalogue } from "../core/error.ts";
import type { Duration } from "../core/duration.ts";
import type { TargetName } from "../engine/target.ts";
import type { Labels } from "../series/contract.ts";

/** What one period of a series comes to. `growth` is how much it rose since the period before. */
export type Statistic = "max" | "min" | "average" | "sum" | "last" | "growth";

export interface MetricChoice {
  /** The name that the metric has everywhere; see docs/reference/metrics.md. */
  readonly name: string;
  /** Only series with these labels. Each series that is left is watched by itself. */
  readonly labels?: Labels;
  /** `max` by default for a gauge, `sum` for a counter. */
  readonly statistic?: Statistic;
}

export type Condition =
  | { readonly above: number }
  | { readonly atLeast: number }
  | { readonly below: number }
  | { readonly atMost: number };

/** What a period without data counts as, as on CloudWatch. */
export type MissingData = "missing" | "ignore" | "breaching" | "notBreaching";

/** Where a change of state is announced, at least once and with a key to tell repeats by. */
export type Notify =
  | { readonly webhook: string; readonly headers?: Readonly<Record<string, string>> }
  /** Run by a process that declares the alarm; the announcement is on its standard input as JSON. */
  | { readonly command: readonly [string, ...string[]] }
  | { readonly target: TargetName };

/** One numbered check of a runbook: a question, and the figure that answers it now. */
export interface Check {
  readonly text: string;
  readonly metric?: MetricChoice;
  /** How far back; 5m by default. */
  readonly over?: Duration;
  readonly unit?: string;
}

export interface AlarmOptions {
  readonly metric: MetricChoice;
  readonly when: Condition;
  /** A second metric of the same thing that must be beyond its bound in the same period; without data it is 0. */
  readonly and?: { readonly metric: MetricChoice; readonly when: Condition };
  /** M of the last N periods must be beyond the bound. */
  readonly of: readonly [datapoints: number, periods: number];
  readonly missing: MissingData;
  /** 1m by default; a multiple of 10s. */
  readonly period?: Duration;
  /** `page` by default. */
  readonly severity?: "page" | "ticket";
  /** Who acts. */
  readonly owner: string;
  /** What they read first: a path or an address. */
  readonly runbook: string;
  readonly notify: readonly Notify[];
  /** The runbook's numbered checks, shown with live values. */
  readonly checks?: readonly Check[];
}

export interface AlarmDefinition {
  readonly kind: "alarm";
  readonly name: string;
  readonly options: AlarmOptions;
}

export type AlarmState = "OK" | "ALARM" | "INSUFFICIENT_DATA";

/** An alarm with one of the things that it watches. */
export interface AlarmReport {
  readonly name: string;
  /** What it watches here, such as `order-work`; empty where nothing has been seen yet. */
  readonly subject: string;
  readonly state: AlarmState;
  readonly sinceMs: number | null;
  readonly value: number | null;
  readonly reason: string;
  readonly severity: "page" | "ticket";
  /** `none` where nobody has declared it. */
  readonly owner: string;
  readonly runbook: string;
  readonly source: "declared" | "shipped";
}

/** What whoever is tied to an alarm needs to know of it. */
export interface AlarmStanding {
  readonly name: string;
  /** So long after something goes wrong it has gone off. */
  readonly windowMs: number;
  /** Those of the things that it watches which are in alarm. */
  readonly firing: readonly { readonly subject: string; readonly sinceMs: number; readonly reason: string }[];
}

export interface AlarmChange {
  readonly name: string;
  readonly subject: string;
  readonly previous: AlarmState;
  readonly state: AlarmState;
  readonly atMs: number;
  readonly value: number | null;
  readonly reason: string;
  readonly test: boolean;
}

/** A runbook's check with what the figures say now. */
export interface CheckedCheck {
  readonly number: number;
  readonly text: string;
  readonly value: number | null;
  readonly unit: string;
  /** More in words, such as the last changes. */
  readonly detail: readonly string[];
}

export interface RunbookReport {
  readonly alarm: string;
  readonly subject: string;
  readonly runbook: string;
  readonly owner: string;
  readonly checks: readonly CheckedCheck[];
  /** What the figures speak for; null where they do not decide. */
  readonly suggestion: string | null;
}

export const alarmErrors = catalogue({
  TUNTAS_ALARM_OPTIONS: {
    meaning: "The declaration of an alarm is not complete or not consistent.",
    remedy: "Correct the named field. An alarm without owner and runbook only makes noise, so it is refused.",
  },
  TUNTAS_ALARM_COMMAND: {
    meaning: "The command that an alarm is announced by failed.",
    remedy: "Run it by hand with the announcement on its standard input; it is tried again, then parked.",
    retryable: true,
  },
  TUNTAS_ALARM_UNKNOWN: {
    meaning: "There is no alarm of that name.",
    remedy: "See the names with `tuntas alarm list`.",
  },
  TUNTAS_ALARM_SUBJECT: {
    meaning: "The alarm watches nothing of that name.",
    remedy: "See what each alarm watches with `tuntas alarm list --all`.",
  },
});
