// The limits of Amazon SQS that a worker has to keep by itself; pure.

/** The most messages of one request. */
export const batchMax = 10;
export const longPollSeconds = 20;
/** From a receive on, all extensions together. What asks for more is refused, not shortened. */
const hiddenMsMax = 12 * 3_600_000;
/** The longest delay of a send. */
export const delaySecondsMax = 900;

// A request takes its time; one that arrives past the limit is refused.
const marginMs = 5000;

/** SQS counts whole seconds: at least the time that was asked for, and no more than the receive has left. */
export function hiddenSeconds(wantedMs: number, sinceReceiveMs: number): number {
  const leftMs = Math.max(0, hiddenMsMax - marginMs - sinceReceiveMs);
  return Math.min(Math.ceil(wantedMs / 1000), Math.floor(leftMs / 1000));
}
