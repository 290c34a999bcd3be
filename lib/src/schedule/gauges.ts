// What the schedules are like at this moment, for charts and alarms.
import { readNowMs } from "../pg/clock.ts";
import type { Reading } from "../engine/signals.ts";
import type { Runner } from "../pg/join.ts";
import { readReports } from "./store.ts";

export async function readScheduleGauges(sql: Runner): Promise<Reading[]> {
  const reports = await readReports(sql, null);
  if (reports.length === 0) return [];
  const nowMs = await readNowMs(sql);
  return reports.flatMap(({ name, running, waiting, overdue, lastSuccessAtMs }) => {
    const reading = (metric: string, value: number, labels = {}): Reading => ({
      name: `tuntas_schedule_${metric}`,
      labels: { schedule: name, ...labels },
      value,
    });
    return [
      reading("open", running, { state: "started" }),
      reading("open", waiting, { state: "waiting" }),
      reading("overdue", Number(overdue)),
      ...(lastSuccessAtMs === null ? [] : [reading("success_age_seconds", (nowMs - lastSuccessAtMs) / 1000)]),
    ];
  });
}
