// Counts what the signals tell, as the rooms' metrics say. One map look-up a signal; nothing is rendered or written here.
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { MetricEntry, MetricSource, Metrics } from "../engine/signals.ts";
import { channelName } from "../engine/signals.ts";

export interface Count {
  readonly name: string;
  /** In the order of the metric's labels. */
  readonly values: readonly string[];
  total: number;
}

export interface Tally {
  /** All that was counted since the beginning; the same objects at each call. */
  counts(): Iterable<Count>;
  close(): void;
}

export type Fields = Readonly<Record<string, unknown>>;

/** Where the value of each label comes from: a fixed text, or a field of the signal. */
export const readersOf = (
  { labels }: MetricEntry,
  { fields = {}, fixed = {} }: MetricSource,
): ((signal: Fields) => string)[] =>
  labels.map((label) => {
    const text = fixed[label];
    if (text !== undefined) return () => text;
    const field = fields[label] ?? label;
    return (signal) => String(signal[field] ?? "");
  });

/** The counts of one source by the raw values of its fields, one level a field: a look-up makes no new text. */
type Branch = Map<unknown, Branch | Count>;

// What somebody sends may name anything: past this many label values of one metric the rest are counted together.
const valuesMax = 2000;
const other = "(other)";

/** The counts of all metrics by their labels; of two sources with equal labels both add to one count. */
function makeLedger() {
  const counts = new Map<string, Count>();
  const sizes = new Map<string, number>();

  function countOf(name: string, values: readonly string[]): Count {
    const key = [name, ...values].join("\0");
    const known = counts.get(key);
    if (known) return known;
    const size = sizes.get(name) ?? 0;
    if (size >= valuesMax && values[0] !== other)
      return countOf(
        name,
        values.map(() => other),
      );
    sizes.set(name, size + 1);
    const made = { name, values, total: 0 };
    counts.set(key, made);
    return made;
  }
  return { counts, countOf };
}

export function startTally(lists: readonly Metrics[]): Tally {
  const { counts, countOf } = makeLedger();
  const listeners: (readonly [channel: string, listener: (message: unknown) => void])[] = [];

  function listen(name: string, entry: MetricEntry, source: MetricSource): void {
    const { amount, fields = {}, fixed = {} } = source;
    const readers = readersOf(entry, source);
    const read = entry.labels
      .filter((label) => fixed[label] === undefined)
      .map((label) => fields[label] ?? label);
    const root: Branch = new Map();
    let size = 0;

    function plant(signal: Fields): Count {
      const count = countOf(
        name,
        readers.map((each) => each(signal)),
      );
      if (size++ >= valuesMax) return count;
      let branch = root;
      for (const field of read.slice(0, -1)) {
        const next = (branch.get(signal[field]) as Branch | undefined) ?? new Map();
        branch.set(signal[field], next);
        branch = next;
      }
      branch.set(signal[read.at(-1) ?? ""], count);
      return count;
    }

    function find(signal: Fields): Count | undefined {
      let at: Branch | Count | undefined = root;
      for (const field of read) at = (at as Branch | undefined)?.get(signal[field]);
      return (read.length === 0 ? root.get(undefined) : at) as Count | undefined;
    }

    const listener = (message: unknown): void => {
      const signal = message as Fields;
      const count = find(signal) ?? plant(signal);
      count.total += amount === undefined ? 1 : (signal[amount] as number);
    };
    const channel = channelName(source.signal);
    subscribe(channel, listener);
    listeners.push([channel, listener]);
  }

  for (const { entries } of lists)
    for (const [name, entry] of Object.entries(entries))
      if (entry.kind === "counter") for (const source of entry.from ?? []) listen(name, entry, source);

  return {
    counts: () => counts.values(),
    close: () => {
      for (const [channel, listener] of listeners) unsubscribe(channel, listener);
    },
  };
}
