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
