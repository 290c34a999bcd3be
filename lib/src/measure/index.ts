// `tuntas/measure`: what is counted, and how it is shown.
export { metrics, type MetricEntry, type Metrics, type Reading } from "../engine/signals.ts";
export { metricEntries, metricLists } from "./catalogue.ts";
export { readSnapshot, type Snapshot } from "./gauges.ts";
export { requestSignals } from "./requests.ts";
export { serviceName } from "./own.ts";
export { readDurations, type MeasuredHandler } from "./durations/index.ts";
export { readRuns } from "./runs.ts";
export { readUsage, type Usage, type UsageQuery } from "./usage/index.ts";
export { makePrometheus, secondsBuckets, type Prometheus } from "./prometheus.ts";
export type { Tally } from "./tally.ts";
