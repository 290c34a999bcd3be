// What changes a schedule, in the transaction that holds its row: another timetable counts from now on, a pause stops what
// comes, and each act is on the record.
import { writeAudit } from "../engine/audit.ts";
import type { Tx } from "../pg/contract.ts";
import type { Act } from "./contract.ts";
import type { ScheduleSettings } from "./settings.ts";
import { clockworkOf, windowStartOf } from "./state.ts";
import * as store from "./store.ts";
import type { ScheduleRow, Timing } from "./store.ts";

type Details = Readonly<Record<string, unknown>>;

export const audit = (tx: Tx, verb: string, name: string, act: Act, details: Details = {}) =>
  writeAudit(tx, {
    actor: act.by,
    action: `schedule.${verb}`,
    subject: `schedule ${name}`,
    reason: act.reason,
    details,
  });

/** When a schedule that is declared now is due first; a rate begins at once, as EventBridge Scheduler has it. */
export function timingOf(settings: ScheduleSettings, nowMs: number): Timing {
  // Whole milliseconds, so that what is added up to it again and again is the same number each time.
  const anchorMs = Math.floor(settings.startsMs ?? nowMs);
  const clockwork = clockworkOf({ ...settings, anchorMs });
  const from = Math.max(anchorMs, Math.floor(nowMs));
  const first = clockwork.recurrence.next(clockwork.expression.kind === "rate" ? from - 1 : from);
  const coveredUntilMs = first === undefined ? anchorMs : windowStartOf(clockwork, first);
  return { anchorMs, coveredUntilMs, nextDueMs: first ?? null };
}

const isRetimed = (row: ScheduleRow, settings: ScheduleSettings): boolean =>
  (["expression", "timeZone", "startsMs", "endsMs"] as const).some((key) => row[key] !== settings[key]);

const differs = (row: ScheduleRow, settings: ScheduleSettings): boolean =>
  (Object.keys(settings) as (keyof ScheduleSettings)[]).some((key) => row[key] !== settings[key]);

/** Gives the schedule these settings; its windows go on where the last one ended. */
export async function rewrite(
  tx: Tx,
  {
    row,
    settings,
    act,
  }: { readonly row: ScheduleRow; readonly settings: ScheduleSettings; readonly act: Act },
): Promise<void> {
  if (differs(row, settings)) await store.updateSettings(tx, settings);
  if (!isRetimed(row, settings)) return;
  const timing = timingOf(settings, row.nowMs);
  const coveredUntilMs = Math.min(row.coveredUntilMs, timing.nextDueMs ?? row.coveredUntilMs);
  await store.retimeSchedule(tx, settings.name, { ...timing, coveredUntilMs });
  await audit(tx, "change", settings.name, act, {
    from: `${row.expression} ${row.timeZone}`,
    to: `${settings.expression} ${settings.timeZone}`,
  });
}

export async function pause(tx: Tx, row: ScheduleRow, act: Act): Promise<void> {
  if (row.pausedAtMs !== null) return;
  await store.pauseSchedule(tx, row.name, act.by, act.reason);
  await audit(tx, "pause", row.name, act);
}

/** It goes on with the next instant from now. */
export async function resume(tx: Tx, row: ScheduleRow, act: Act): Promise<void> {
  if (row.pausedAtMs === null) return;
  const clockwork = clockworkOf(row);
  const nextDueMs = clockwork.recurrence.next(row.nowMs) ?? null;
  const coveredUntilMs = nextDueMs === null ? row.coveredUntilMs : windowStartOf(clockwork, nextDueMs);
  await store.resumeSchedule(tx, row.name);
  await store.advanceSchedule(tx, row.name, coveredUntilMs, nextDueMs);
  await audit(tx, "resume", row.name, act, { pausedSince: new Date(row.pausedAtMs).toISOString() });
}
