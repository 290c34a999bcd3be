import type { Occurrence, ScheduleReport } from "../../../api/index.ts";
import { Badge, type Tone } from "../../furniture/badge.tsx";

type Standing = readonly [Tone, string];

function standingOf({ overdue, pausedAtMs, nextDueMs, running, last }: ScheduleReport): Standing {
  if (overdue) return ["danger", "overdue"];
  if (pausedAtMs !== null) return ["warn", "paused"];
  if (last?.state === "failed") return ["danger", "failed last"];
  if (running > 0) return ["active", "running"];
  return nextDueMs === null ? ["idle", "over"] : ["good", "on time"];
}

export function ScheduleBadge({ schedule }: { readonly schedule: ScheduleReport }) {
  const [tone, text] = standingOf(schedule);
  return <Badge tone={tone}>{text}</Badge>;
}

/** The same for tables, figures and the picture. */
export const occurrenceTones: Readonly<Record<Occurrence["state"], Tone>> = {
  waiting: "idle",
  started: "active",
  succeeded: "good",
  failed: "danger",
  skipped: "idle",
  missed: "warn",
};

export const stateText = (state: Occurrence["state"]): string => (state === "started" ? "running" : state);

export function OccurrenceBadge({ state }: Pick<Occurrence, "state">) {
  return <Badge tone={occurrenceTones[state]}>{stateText(state)}</Badge>;
}
