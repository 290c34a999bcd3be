// Events after commit, on node:diagnostics_channel: named, cheap where nobody listens, and in nobody's way.
// Each room lists its signals in its signals.ts; docs/reference/signals.md is generated from those lists.
import { channel } from "node:diagnostics_channel";

export interface SignalEntry {
  readonly meaning: string;
  /** What each message on the channel carries. */
  readonly fields: Readonly<Record<string, string>>;
}

export type Signals<Name extends string> = {
  readonly entries: Readonly<Record<Name, SignalEntry>>;
  /** Publishes; call it only after the commit. */
  readonly publish: (name: Name, fields: Readonly<Record<string, unknown>>) => void;
};

const prefix = "tuntas.";

export const channelName = (name: string): string => prefix + name;

export function signals<Name extends string>(entries: Record<Name, SignalEntry>): Signals<Name> {
  const channels = new Map(Object.keys(entries).map((name) => [name, channel(channelName(name))]));
  return {
    entries,
    publish(name, fields) {
      const target = channels.get(name)!;
      if (target.hasSubscribers) target.publish(fields);
    },
  };
}

// Metrics as data: what each one means, and which signals it counts. Each room lists its metrics beside its signals;
// Prometheus, the time series and docs/reference/metrics.md all read these lists.

/** How a signal counts. Labels are fields of the signal, or fixed. */
export interface MetricSource {
  readonly signal: string;
  /** Label to the field that it is read from; a label that is not here is a field of the same name. */
  readonly fields?: Readonly<Record<string, string>>;
  /** Labels that are always the same. */
  readonly fixed?: Readonly<Record<string, string>>;
  /** The field that says how much; 1 where there is none. */
  readonly amount?: string;
}

export interface MetricEntry {
  /** A counter goes up, a gauge is read from the database, a histogram counts durations by buckets (in seconds). */
  readonly kind: "counter" | "gauge" | "histogram";
  readonly meaning: string;
  readonly labels: readonly string[];
  /** What a counter counts, or whose `durationMs` a histogram takes. */
  readonly from?: readonly MetricSource[];
  /** True where it is kept over time, for charts and alarms. */
  readonly kept?: boolean;
}

export interface Metrics<Name extends string = string> {
  readonly entries: Readonly<Record<Name, MetricEntry>>;
}

export const metrics = <Name extends string>(entries: Record<Name, MetricEntry>): Metrics<Name> => ({
  entries,
});

/** A gauge as it was read. */
export interface Reading {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}
