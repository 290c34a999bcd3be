import { metrics, signals } from "../engine/signals.ts";

const kind = "the target's kind";
const name = "the target's name";
const count = "how many rows";

/** What the relay announces, each after its commit. */
export const outboxSignals = signals({
  "outbox.published": {
    meaning: "A target took rows.",
    fields: { kind, name, count, oldestAgeMs: "how long the oldest of them had waited" },
  },
  "outbox.refused": {
    meaning: "A target refused a row for what it says.",
    fields: { kind, name, code: "why" },
  },
  "outbox.parked": {
    meaning: "A row was refused too often and is parked.",
    fields: { kind, name, code: "why", id: "the row's id" },
  },
  "outbox.unavailable": {
    meaning: "A target could not be reached; its rows wait.",
    fields: { kind, name, code: "why" },
  },
  "outbox.age": {
    meaning: "How long the oldest row of a target has waited.",
    fields: { kind, name, ageMs: "its age" },
  },
  "outbox.overdue": {
    meaning: "The oldest row of a target has waited longer than the alarm threshold.",
    fields: { kind, name, ageMs: "its age", reason: "why it waits" },
  },
});

export const outboxMetrics = metrics({
  tuntas_outbox_published_total: {
    kind: "counter",
    meaning: "Announcements that a target took.",
    labels: ["kind", "name"],
    from: [{ signal: "outbox.published", amount: "count" }],
    kept: true,
  },
  tuntas_outbox_failures_total: {
    kind: "counter",
    meaning:
      "Deliveries that failed: refused for what they say, unavailable, parked after too many refusals.",
    labels: ["kind", "name", "type"],
    from: [
      { signal: "outbox.refused", fixed: { type: "refused" } },
      { signal: "outbox.unavailable", fixed: { type: "unavailable" } },
      { signal: "outbox.parked", fixed: { type: "parked" } },
    ],
    kept: true,
  },
  tuntas_outbox_rows: {
    kind: "gauge",
    meaning: "Announcements that wait or are parked.",
    labels: ["kind", "name", "state"],
    kept: true,
  },
  tuntas_outbox_oldest_age_seconds: {
    kind: "gauge",
    meaning: "How long the oldest announcement of a target has waited.",
    labels: ["kind", "name"],
    kept: true,
  },
});
