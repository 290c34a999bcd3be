import { metrics, signals } from "../engine/signals.ts";

export const alarmSignals = signals({
  "alarm.changed": {
    meaning: "An alarm changed its state.",
    fields: {
      name: "the alarm",
      subject: "what it watches here",
      state: "OK, ALARM or INSUFFICIENT_DATA",
      previous: "the state before",
      reason: "why",
    },
  },
});

export const alarmMetrics = metrics({
  tuntas_alarm_changes_total: {
    kind: "counter",
    meaning: "Changes of alarms by the state that they came to.",
    labels: ["name", "state"],
    from: [{ signal: "alarm.changed" }],
    kept: true,
  },
  tuntas_alarms_firing: {
    kind: "gauge",
    meaning: "Things for which an alarm is in the state ALARM.",
    labels: ["name"],
    kept: true,
  },
});
