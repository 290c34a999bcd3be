import type { ScheduleReport } from "tuntas/schedule";
import { instant } from "../../render.ts";

export const targetText = ({ target: { kind, name } }: Pick<ScheduleReport, "target">): string =>
  `${kind} ${name}`;

/** How it stands, in a word. */
export function standingOf({ pausedAtMs, overdue, nextDueMs }: ScheduleReport): string {
  if (overdue) return pausedAtMs === null ? "overdue" : "overdue, paused";
  if (pausedAtMs !== null) return "paused";
  return nextDueMs === null ? "over" : "on";
}

export const nextText = ({ pausedAtMs, nextDueMs }: ScheduleReport): string =>
  pausedAtMs === null ? instant(nextDueMs) : "";
