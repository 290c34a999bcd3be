// What this process takes of its machine, and what it logs. It is told together with what the process counted, so an idle one
// tells nothing.
import { loggedByLevel } from "../engine/log.ts";
import { metrics, type Reading } from "../engine/signals.ts";
import type { Sample } from "../series/contract.ts";

const memory = "tuntas_process_memory_bytes";
const cpu = "tuntas_process_cpu_seconds_total";
const logged = "tuntas_log_bytes_total";

export const ownMetrics = metrics({
  [memory]: {
    kind: "gauge",
    meaning: "Memory of a process, all of it (resident).",
    labels: ["service"],
    kept: true,
  },
  [cpu]: {
    kind: "counter",
    meaning: "CPU time of processes, of user and system.",
    labels: ["service"],
    kept: true,
  },
  [logged]: {
    kind: "counter",
    meaning: "How much processes have logged, in characters (bytes, where they are ASCII).",
    labels: ["service", "level"],
    kept: true,
  },
});

/** What the process is part of: its deployments, figures and alarms go by this name. */
export const serviceName = (): string => process.env.TUNTAS_SERVICE ?? "application";

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000_000;
}

function counters(): Reading[] {
  const service = serviceName();
  const levels = Object.entries(loggedByLevel());
  return [
    { name: cpu, labels: { service }, value: cpuSeconds() },
    ...levels.map(([level, value]) => ({ name: logged, labels: { service, level }, value })),
  ];
}

/** By now, for Prometheus. */
export const ownReadings = (): { readonly gauge: Reading; readonly counters: readonly Reading[] } => ({
  gauge: { name: memory, labels: { service: serviceName() }, value: process.memoryUsage.rss() },
  counters: counters(),
});

export interface OwnLoad {
  /** What is new since the last that was told. */
  fresh(): readonly Sample[];
  told(): void;
}

const keyOf = ({ name, labels }: Reading): string => `${name} ${labels.level ?? ""}`;

const totals = (readings: readonly Reading[]): ReadonlyMap<string, number> =>
  new Map(readings.map((reading) => [keyOf(reading), reading.value]));

export function makeOwnLoad(): OwnLoad {
  let known = totals(counters());
  let seen = known;
  return {
    fresh() {
      const { gauge, counters: now } = ownReadings();
      seen = totals(now);
      const since = now.map((reading): Sample => {
        const value = reading.value - (known.get(keyOf(reading)) ?? 0);
        return { ...reading, kind: "counter", value };
      });
      return [{ ...gauge, kind: "gauge" }, ...since.filter(({ value }) => value > 0)];
    },
    told: () => void (known = seen),
  };
}
