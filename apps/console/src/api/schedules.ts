import type { Occurrence, ScheduleReport, Upcoming } from "tuntas/schedule";
import type { None, Reasoned } from "./basics.ts";

export type { Occurrence, ScheduleReport, Upcoming };

export interface ScheduleView extends ScheduleReport {
  /** The database's clock. */
  readonly nowMs: number;
  /** The latest first. */
  readonly occurrences: readonly Occurrence[];
  /** What is to come; also of one that is paused, where nothing comes before it is resumed. */
  readonly upcoming: readonly Upcoming[];
}

interface ScheduleName {
  readonly schedule: string;
}

export interface ScheduleReads {
  schedules: { query: None; answer: readonly ScheduleReport[] };
  schedule: { query: ScheduleName; answer: ScheduleView };
}

export interface ScheduleActs {
  "schedule.pause": { body: ScheduleName & Reasoned; answer: ScheduleReport };
  "schedule.resume": { body: ScheduleName & Reasoned; answer: ScheduleReport };
  /** The window of this instant again; of the latest one where none is named. */
  "schedule.run": { body: ScheduleName & Reasoned & { readonly dueMs?: number }; answer: Occurrence };
}
