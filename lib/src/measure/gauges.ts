// All gauges at one moment, read from the rooms. A room that has more to tell adds its reader here.
import type { Reading } from "../engine/signals.ts";
import { countFiring } from "../alarm/store.ts";
import { readLedgerGauges } from "../ledger/gauges.ts";
import { readStatus } from "../outbox/client.ts";
import type { Sql } from "../pg/contract.ts";
import { readQueueGauges } from "../queue/store/gauges.ts";
import { readApprovalGauges } from "../workflow/approval/gauges.ts";
import { readWorkflowGauges } from "../workflow/store/gauges.ts";

export interface Snapshot {
  readonly readings: readonly Reading[];
  /** The label of each queue, by its id, for signals that name queues by id. */
  readonly queueLabels: ReadonlyMap<string, string>;
}

async function readOutboxGauges(sql: Pick<Sql, "run">): Promise<Reading[]> {
  const { targets } = await readStatus(sql);
  return targets.flatMap(({ target: { kind, name }, waiting, parked, oldestAgeMs }) => [
    { name: "tuntas_outbox_rows", labels: { kind, name, state: "waiting" }, value: waiting },
    { name: "tuntas_outbox_rows", labels: { kind, name, state: "parked" }, value: parked },
    { name: "tuntas_outbox_oldest_age_seconds", labels: { kind, name }, value: (oldestAgeMs ?? 0) / 1000 },
  ]);
}

const readAlarmGauges = async (sql: Pick<Sql, "run">): Promise<Reading[]> =>
  (await countFiring(sql)).map(({ name, value }) => ({
    name: "tuntas_alarms_firing",
    labels: { name },
    value,
  }));

const readers: readonly ((sql: Pick<Sql, "run">) => Promise<readonly Reading[]>)[] = [
  readWorkflowGauges,
  readApprovalGauges,
  readOutboxGauges,
  readLedgerGauges,
  readAlarmGauges,
];

/** One after another on purpose: figures are no reason to take several connections at once. */
export async function readSnapshot(sql: Pick<Sql, "run">): Promise<Snapshot> {
  const queues = await readQueueGauges(sql);
  const readings = [...queues.readings];
  for (const read of readers) readings.push(...(await read(sql)));
  return { readings, queueLabels: queues.labels };
}
