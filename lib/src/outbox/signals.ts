import { signals } from "../engine/signals.ts";

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
