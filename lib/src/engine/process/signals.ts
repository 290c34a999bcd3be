import { metrics, signals } from "../signals.ts";

export const processSignals = signals({
  "process.memory_growing": {
    meaning: "What this process keeps in memory has grown steadily for an hour.",
    fields: {
      memory: "`heap` (objects of JavaScript) or `process` (everything)",
      bytes: "what is kept",
      bytesPerHour: "how fast it grows",
      limitBytes: "where it ends",
      hoursLeft: "when it gets there if it goes on like this",
    },
  },
});

export const processMetrics = metrics({
  tuntas_process_memory_growing_total: {
    kind: "counter",
    meaning: "Hours in which what a process keeps in memory has grown steadily.",
    labels: ["memory"],
    from: [{ signal: "process.memory_growing" }],
    kept: true,
  },
});
