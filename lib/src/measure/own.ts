// What this process takes of its machine. It is told together with what the process counted, so an idle one tells nothing.
import { metrics, type Reading } from "../engine/signals.ts";
import type { Sample } from "../series/contract.ts";

const memory = "tuntas_process_memory_bytes";
const cpu = "tuntas_process_cpu_seconds_total";

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
});

/** What the process is part of: its deployments, figures and alarms go by this name. */
export const serviceName = (): string => process.env.TUNTAS_SERVICE ?? "application";

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000_000;
}

/** By now, for Prometheus. */
export const ownReadings = (): { readonly gauge: Reading; readonly counter: Reading } => {
  const labels = { service: serviceName() };
  return {
    gauge: { name: memory, labels, value: process.memoryUsage.rss() },
    counter: { name: cpu, labels, value: cpuSeconds() },
  };
};

export interface OwnLoad {
  /** What is new since the last that was told. */
  fresh(): readonly Sample[];
  told(): void;
}

export function makeOwnLoad(): OwnLoad {
  let toldSeconds = cpuSeconds();
  let seenSeconds = toldSeconds;
  return {
    fresh() {
      seenSeconds = cpuSeconds();
      const labels = { service: serviceName() };
      return [
        { name: memory, kind: "gauge", labels, value: process.memoryUsage.rss() },
        { name: cpu, kind: "counter", labels, value: seenSeconds - toldSeconds },
      ];
    },
    told: () => void (toldSeconds = seenSeconds),
  };
}
