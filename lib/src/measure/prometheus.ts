// The metrics in Prometheus' text format. Counters are what this process counted, gauges what the database says, asked at
// most once in two seconds however often somebody scrapes; histograms are of this process.
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { MetricEntry } from "../engine/signals.ts";
import { channelName } from "../engine/signals.ts";
import type { Sql } from "../pg/contract.ts";
import { labelsOf, metricEntries } from "./catalogue.ts";
import { readSnapshot, type Snapshot } from "./gauges.ts";
import { ownReadings } from "./own.ts";
import { readersOf, type Fields, type Tally } from "./tally.ts";

export interface Prometheus {
  /** For what else the process measures. */
  readonly registry: Registry;
  readonly contentType: string;
  /** The text, in bounded time: where the database is slow, the gauges keep what it said last. */
  render(): Promise<string>;
  close(): void;
}

export interface PrometheusOptions {
  readonly database: Sql;
  readonly tally: Tally;
}

export const secondsBuckets = [
  0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600,
];
const freshMs = 2000;
const timeoutMs = 1000;

const ofKind = (kind: MetricEntry["kind"]): [string, MetricEntry][] =>
  [...metricEntries].filter(([, entry]) => entry.kind === kind);

/** Answers what fills the counters with what the tally has. */
function makeCounters(registry: Registry, tally: Tally): (queueLabels: Snapshot["queueLabels"]) => void {
  const counters = new Map(
    ofKind("counter").map(([name, { meaning, labels }]) => [
      name,
      new Counter({ name, help: meaning, labelNames: [...labels], registers: [registry] }),
    ]),
  );
  return (queueLabels) => {
    for (const counter of counters.values()) counter.reset();
    for (const { name, values, total } of tally.counts())
      counters.get(name)!.inc(labelsOf(name, values, queueLabels), total);
    for (const { name, labels, value } of ownReadings().counters) counters.get(name)!.inc(labels, value);
  };
}

/** Answers what fills the gauges with what was read. */
function makeGauges(registry: Registry): (readings: Snapshot["readings"]) => void {
  const gauges = new Map(
    ofKind("gauge").map(([name, { meaning, labels }]) => [
      name,
      new Gauge({ name, help: meaning, labelNames: [...labels], registers: [registry] }),
    ]),
  );
  return (readings) => {
    for (const gauge of gauges.values()) gauge.reset();
    for (const { name, labels, value } of [...readings, ownReadings().gauge])
      gauges.get(name)?.set(labels, value);
  };
}

/** Answers what ends the listening. */
function listenForDurations(registry: Registry): () => void {
  const undo: (() => void)[] = [];
  for (const [name, entry] of ofKind("histogram")) {
    const { meaning: help, labels } = entry;
    const registers = [registry];
    const histogram = new Histogram({
      name,
      help,
      labelNames: [...labels],
      buckets: secondsBuckets,
      registers,
    });
    for (const source of entry.from ?? []) {
      const readers = readersOf(entry, source);
      const listener = (message: unknown): void => {
        const signal = message as Fields;
        const values = Object.fromEntries(labels.map((label, index) => [label, readers[index]!(signal)]));
        histogram.observe(values, Number(signal.durationMs) / 1000);
      };
      subscribe(channelName(source.signal), listener);
      undo.push(() => void unsubscribe(channelName(source.signal), listener));
    }
  }
  return () => undo.forEach((each) => each());
}

/** What runs here, by the name that dashboards know such a figure by. */
function describeBuild(registry: Registry, revision: string | undefined): void {
  const info = new Gauge({
    name: "tuntas_build_info",
    help: "1, with the version of Node.js and the revision that was deployed (TUNTAS_REVISION).",
    labelNames: ["version", "revision"],
    registers: [registry],
  });
  info.set({ version: process.version, revision: revision ?? "none" }, 1);
}

export function makePrometheus({ database, tally }: PrometheusOptions): Prometheus {
  const registry = new Registry();
  // Old and new processes run side by side in a deployment: whose errors these are is to be seen at once.
  const { TUNTAS_REVISION: revision } = process.env;
  if (revision) registry.setDefaultLabels({ revision });
  describeBuild(registry, revision);
  const fillCounters = makeCounters(registry, tally);
  const fillGauges = makeGauges(registry);
  const close = listenForDurations(registry);
  let snapshot: Snapshot = { readings: [], queueLabels: new Map() };
  let readAtMs = -Infinity;
  let reading: Promise<void> | undefined;

  async function read(): Promise<void> {
    snapshot = await readSnapshot(database);
    readAtMs = performance.now();
  }

  async function refresh(): Promise<void> {
    if (performance.now() - readAtMs < freshMs) return;
    reading ??= read()
      .catch(() => undefined)
      .finally(() => (reading = undefined));
    let timer: NodeJS.Timeout;
    const tooLate = new Promise<void>((resolve) => (timer = setTimeout(resolve, timeoutMs)));
    await Promise.race([reading, tooLate]).finally(() => clearTimeout(timer));
  }

  return {
    registry,
    contentType: registry.contentType,
    async render() {
      await refresh();
      fillCounters(snapshot.queueLabels);
      fillGauges(snapshot.readings);
      return registry.metrics();
    },
    close,
  };
}
