// Every metric there is.
import type { MetricEntry, Metrics } from "../engine/signals.ts";
import { downstreamMetrics } from "../engine/outside/signals.ts";
import { processMetrics } from "../engine/process/signals.ts";
import { alarmMetrics } from "../alarm/signals.ts";
import { backfillMetrics } from "../batch/backfill/signals.ts";
import { batchMetrics } from "../batch/signals.ts";
import { filesMetrics } from "../files/signals.ts";
import { ledgerMetrics } from "../ledger/signals.ts";
import { operationMetrics } from "../operation/signals.ts";
import { commandMetrics } from "../operation/command/signals.ts";
import { outboxMetrics } from "../outbox/signals.ts";
import { queueMetrics } from "../queue/signals.ts";
import { scheduleMetrics } from "../schedule/signals.ts";
import { serviceMetrics } from "../service/signals.ts";
import { streamMetrics } from "../stream/signals.ts";
import { approvalMetrics } from "../workflow/approval/signals.ts";
import { workflowMetrics } from "../workflow/signals.ts";
import { ownMetrics } from "./own.ts";
import { requestMetrics } from "./requests.ts";
import { usageMetrics } from "./usage/gauges.ts";

export const metricLists: readonly Metrics[] = [
  queueMetrics,
  workflowMetrics,
  approvalMetrics,
  outboxMetrics,
  ledgerMetrics,
  filesMetrics,
  scheduleMetrics,
  streamMetrics,
  batchMetrics,
  backfillMetrics,
  serviceMetrics,
  operationMetrics,
  commandMetrics,
  alarmMetrics,
  processMetrics,
  downstreamMetrics,
  ownMetrics,
  requestMetrics,
  usageMetrics,
];

export const metricEntries: ReadonlyMap<string, MetricEntry> = new Map(
  metricLists.flatMap(({ entries }) => Object.entries(entries)),
);

/** Labels of the metric whose values are queues' ids, which are to be said as names. */
const idLabels = ({ labels, from = [] }: MetricEntry): readonly boolean[] =>
  labels.map((label) => from.some(({ fields }) => fields?.[label] === "queueId"));

const idLabelsOf = new Map([...metricEntries].map(([name, entry]) => [name, idLabels(entry)]));

/** Those of the values that are queues' ids. */
export const idValuesOf = (name: string, values: readonly string[]): string[] =>
  values.filter((_, index) => idLabelsOf.get(name)![index]);

/** The counted values as labels. A queue that is not known by now keeps its number. */
export function labelsOf(
  name: string,
  values: readonly string[],
  queueLabels: ReadonlyMap<string, string>,
): Record<string, string> {
  const { labels } = metricEntries.get(name)!;
  const ids = idLabelsOf.get(name)!;
  return Object.fromEntries(
    labels.map((label, index) => {
      const value = values[index]!;
      return [label, ids[index] ? (queueLabels.get(value) ?? `#${value}`) : value];
    }),
  );
}
