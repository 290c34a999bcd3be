// All gauges at one moment, read from the rooms. A room that has more to tell adds its reader here.
import type { Reading } from "../engine/signals.ts";
import { countFiring } from "../alarm/store.ts";
import { readLedgerGauges } from "../ledger/gauges.ts";
import { readStatus } from "../outbox/client.ts";
import type { Sql } from "../pg/contract.ts";
import type { Runner } from "../pg/join.ts";
import { atOneMoment } from "../pg/snapshot.ts";
import { readBackfillGauges } from "../batch/backfill/gauges.ts";
import { readBatchGauges } from "../batch/gauges.ts";
import { readCommandGauges } from "../operation/command/signals.ts";
import { readQueueGauges } from "../queue/store/gauges.ts";
import { readApprovalGauges } from "../workflow/approval/gauges.ts";
import { readScheduleGauges } from "../schedule/gauges.ts";
import { readServiceGauges } from "../service/store/services.ts";
import { readStreamGauges } from "../stream/gauges.ts";
import { readWorkflowGauges } from "../workflow/store/gauges.ts";
import { readUsageGauges } from "./usage/gauges.ts";

export interface Snapshot {
  readonly readings: readonly Reading[];
  /** The label of each queue, by its id, for signals that name queues by id. */
  readonly queueLabels: ReadonlyMap<string, string>;
}

async function readOutboxGauges(sql: Runner): Promise<Reading[]> {
  const { targets } = await readStatus(sql);
  return targets.flatMap(({ target: { kind, name }, waiting, parked, oldestAgeMs }) => [
    { name: "tuntas_outbox_rows", labels: { kind, name, state: "waiting" }, value: waiting },
    { name: "tuntas_outbox_rows", labels: { kind, name, state: "parked" }, value: parked },
    { name: "tuntas_outbox_oldest_age_seconds", labels: { kind, name }, value: (oldestAgeMs ?? 0) / 1000 },
  ]);
}

const readAlarmGauges = async (sql: Runner): Promise<Reading[]> =>
  (await countFiring(sql)).map(({ name, value }) => ({
    name: "tuntas_alarms_firing",
    labels: { name },
    value,
  }));

const readers: readonly ((sql: Runner) => Promise<readonly Reading[]>)[] = [
  readWorkflowGauges,
  readApprovalGauges,
  readServiceGauges,
  readScheduleGauges,
  readStreamGauges,
  readBatchGauges,
  readBackfillGauges,
  readCommandGauges,
  readOutboxGauges,
  readLedgerGauges,
  readAlarmGauges,
  readUsageGauges,
];

export const readSnapshot = (sql: Sql): Promise<Snapshot> =>
  atOneMoment(sql, async (moment) => {
    const queues = await readQueueGauges(moment);
    const readings = [...queues.readings];
    for (const read of readers) readings.push(...(await read(moment)));
    return { readings, queueLabels: queues.labels };
  });
