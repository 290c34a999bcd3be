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

// What somebody sends may name anything: past this many label values of one metric the rest are counted together.
const valuesMax = 2000;
const other = "(other)";

export function startTally(lists: readonly Metrics[]): Tally {
  const counts = new Map<string, Count>();
  const sizes = new Map<string, number>();
  const listeners: (readonly [channel: string, listener: (message: unknown) => void])[] = [];

  function make(key: string, name: string, values: readonly string[]): Count {
    const size = sizes.get(name) ?? 0;
    if (size >= valuesMax && !key.endsWith(other))
      return countOf(
        `${name}\0${other}`,
        name,
        values.map(() => other),
      );
    sizes.set(name, size + 1);
    const made = { name, values, total: 0 };
    counts.set(key, made);
    return made;
  }

  const countOf = (key: string, name: string, values: readonly string[]): Count =>
    counts.get(key) ?? make(key, name, values);

  function listen(name: string, entry: MetricEntry, source: MetricSource): void {
    const readers = readersOf(entry, source);
    const { amount } = source;
    const listener = (message: unknown): void => {
      const signal = message as Fields;
      let key = name;
      for (const read of readers) key += `\0${read(signal)}`;
      const count =
        counts.get(key) ??
        countOf(
          key,
          name,
          readers.map((read) => read(signal)),
        );
      count.total += amount === undefined ? 1 : Number(signal[amount]);
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
