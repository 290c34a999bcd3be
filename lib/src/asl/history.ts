// Where a history event has its details, and the last touch that it gets on the wire, which is not stored, because it is
// always the same.
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

const detailsKeys = new Map<string, `${string}EventDetails`>();

/** AWS names the details after the event, but for states, which share `stateEntered` and `stateExited`. */
export function detailsKey(type: string): `${string}EventDetails` {
  let key = detailsKeys.get(type);
  if (!key) {
    const name = /State(Entered|Exited)$/.exec(type)?.[0] ?? type;
    key = `${name[0]!.toLowerCase()}${name.slice(1)}EventDetails`;
    detailsKeys.set(type, key);
  }
  return key;
}
