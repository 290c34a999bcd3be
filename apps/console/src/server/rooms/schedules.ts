// Schedules: what is due by the clock, what became of it, and what people do about it, as JSON.
import type { Who } from "tuntas/access";
import type { Act } from "tuntas/schedule";
import type { ScheduleActs, ScheduleReads } from "../../api/index.ts";
import type { Fields } from "../fields.ts";
import type { ActsOf, Needs, ReadsOf } from "../needs.ts";

const occurrencesMax = 200;
const upcomingMax = 10;
/** The last instant that JavaScript knows. */
const instantMax = 8_640_000_000_000_000;

export function scheduleReads({ platform: { schedules, workflows } }: Needs): ReadsOf<keyof ScheduleReads> {
  return {
    schedules: () => schedules.list(),
    async schedule(query) {
      const name = query.text("schedule");
      const [report, occurrences, upcoming] = await Promise.all([
        schedules.find(name),
        schedules.occurrences(name, occurrencesMax),
        schedules.next(name, upcomingMax),
      ]);
      return { ...report, nowMs: workflows.nowMs(), occurrences, upcoming };
    },
  };
}

export function scheduleActs({ platform: { schedules } }: Needs): ActsOf<keyof ScheduleActs> {
  const act = <T>(work: (name: string, by: Act, body: Fields) => Promise<T>) => ({
    may: "schedule.change" as const,
    run: (body: Fields, { name }: Who) =>
      work(body.text("schedule"), { by: name, reason: body.text("reason") }, body),
  });
  return {
    "schedule.pause": act((name, by) => schedules.pause(name, by)),
    "schedule.resume": act((name, by) => schedules.resume(name, by)),
    "schedule.run": act((name, by, body) =>
      schedules.run(name, { ...by, dueMs: body.integer("dueMs", { min: 0, max: instantMax }) }),
    ),
  };
}
