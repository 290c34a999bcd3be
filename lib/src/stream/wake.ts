// What is said where something happens to a stream: in this process by the waker, to others on the channel `stream`. Either
// names a partition, in which there is something to read, or a consumer, whose partitions are to be shared out anew.
import type { Waker } from "../engine/wake.ts";

/** Names a partition. */
export const partitionKey = (streamId: number, partition: number): string => `${streamId}:${partition}`;

/** Names a consumer. */
export const consumerKey = (consumerId: number): string => `c${consumerId}`;

/** The waker's key of a partition or a consumer. */
export const streamKey = (word: string): string => `stream:${word}`;

export interface Telling {
  readonly waker: Waker;
  /** Tells the other processes, soon. */
  readonly announce: (word: string) => void;
}

/** Wakes whoever waits for it, here and elsewhere. */
export function tell({ waker, announce }: Telling, word: string): void {
  waker.wake(streamKey(word));
  announce(word);
}
