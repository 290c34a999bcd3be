// The events of one advance as the text that is kept. In AWS's shape they say the same over and over: the output of a
// task is the output of its state, the input of the next and that of its task. Here each text stands once, what follows
// from the event before is left out, and whoever reads a history gets AWS's shape back. The result of a step whose writes
// are in the same commit is one of the texts.
import type { HistoryEvent } from "../../asl/contract.ts";
import { detailsKey } from "../../asl/index.ts";

/** Shorter ones are written where they stand. */
const sharedMin = 12;

/** Marks a field whose value is the number of a text. */
const mark = "=";

interface Kept {
  /** Of the first event; the others count on. */
  readonly id: number;
  /** Seconds, of the first event and of all that do not say otherwise. */
  readonly at: number;
  readonly texts: readonly string[];
  readonly events: readonly (string | KeptEvent)[];
  /** The number of the text that is the step's result. */
  readonly result?: number;
}

/** Type; details, or 0; what it follows where that is not the event before; its time where that is not the first's. */
type KeptEvent = readonly [
  type: string,
  details?: Readonly<Record<string, unknown>> | 0,
  previous?: number,
  at?: number,
];

/** What says the same stands close together, and a row of thousands of events must not look through thousands of texts. */
const lookBack = 8;

/** The number of a text among those of the row. */
function numberOf(texts: string[], text: string): number {
  const last = texts.length - 1;
  for (let at = last; at >= 0 && at > last - lookBack; at--) if (texts[at] === text) return at;
  return texts.push(text) - 1;
}

function detailsText(details: Readonly<Record<string, unknown>>, texts: string[]): string {
  let fields = "";
  for (const key of Object.keys(details)) {
    const value = details[key];
    if (value === undefined) continue;
    if (fields !== "") fields += ",";
    fields +=
      typeof value === "string" && value.length >= sharedMin
        ? `"${key}${mark}":${numberOf(texts, value)}`
        : `"${key}":${JSON.stringify(value)}`;
  }
  return `{${fields}}`;
}

type First = Pick<HistoryEvent, "id" | "timestamp">;

function eventText(event: HistoryEvent, first: First, texts: string[]): string {
  const details = event[detailsKey(event.type)];
  const follows = event.previousEventId === event.id - 1;
  const isTimed = event.timestamp !== first.timestamp;
  if (!details && follows && !isTimed) return `"${event.type}"`;
  const shown = details ? detailsText(details, texts) : "0";
  if (follows && !isTimed) return `["${event.type}",${shown}]`;
  const time = isTimed ? `,${event.timestamp}` : "";
  return `["${event.type}",${shown},${event.previousEventId}${time}]`;
}

/** What is kept of a step beside its events. */
export interface StepResult {
  /** JSON text. */
  readonly result: string;
  readonly atMs: number;
}

/** The text that is kept for the events of one advance; there is at least one, or a step's result. */
export function eventsText(events: readonly HistoryEvent[], step?: StepResult): string {
  const texts: string[] = [];
  const first: First = events[0] ?? { id: 0, timestamp: step!.atMs / 1000 };
  let all = "";
  for (const event of events) all += (all === "" ? "" : ",") + eventText(event, first, texts);
  const result = step ? `,"result":${numberOf(texts, step.result)}` : "";
  return `{"id":${first.id},"at":${first.timestamp},"texts":${JSON.stringify(texts)},"events":[${all}]${result}}`;
}

/** The step that was kept beside the events. */
export function stepIn(text: string): StepResult {
  const { texts, result, at } = JSON.parse(text) as Kept;
  return { result: texts[result!]!, atMs: at * 1000 };
}

function withTexts(
  details: Readonly<Record<string, unknown>>,
  texts: readonly string[],
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(details).map(([key, value]) =>
      key.endsWith(mark) ? [key.slice(0, -mark.length), texts[value as number]] : [key, value],
    ),
  );
}

/** The events of AWS's shape out of the text that was kept. */
export function eventsOf(text: string): HistoryEvent[] {
  const kept = JSON.parse(text) as Kept;
  return kept.events.map((event, index): HistoryEvent => {
    const id = kept.id + index;
    const [type, details, previous, at]: KeptEvent = typeof event === "string" ? [event] : event;
    const head: HistoryEvent = { id, previousEventId: previous ?? id - 1, timestamp: at ?? kept.at, type };
    return details ? { ...head, [detailsKey(type)]: withTexts(details, kept.texts) } : head;
  });
}
