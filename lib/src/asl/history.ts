// The last touch that a history event gets on the wire. What is stored leaves it out, because it is always the same.
import type { HistoryEvent } from "./contract.ts";

const marked = ["input", "output", "assignedVariables"] as const;
const complete = { truncated: false };

/** Adds `inputDetails` and its like, as GetExecutionHistory shows them. */
export function wireEvent(event: HistoryEvent): HistoryEvent {
  const key = Object.keys(event).find((name) => name.endsWith("EventDetails")) as
    `${string}EventDetails` | undefined;
  const details = key && event[key];
  if (!details) return event;
  const marks = marked
    .filter((name) => details[name] !== undefined)
    .map((name) => [`${name}Details`, complete]);
  return { ...event, [key]: { ...details, ...(Object.fromEntries(marks) as Record<string, unknown>) } };
}
