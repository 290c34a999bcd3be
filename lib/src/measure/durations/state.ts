// Durations by size: each bucket reaches a fifth further than the one before, from 1 ms to five hours. Pure.

const perDoubling = 4;

export const bucketCount = 97;

/** The bucket of a duration; the last one also takes what is longer. */
export const bucketOf = (ms: number): number =>
  ms <= 1 ? 0 : Math.min(bucketCount - 1, Math.ceil(perDoubling * Math.log2(ms)));

/** What a bucket reaches to. */
export const upperMs = (bucket: number): number => 2 ** (bucket / perDoubling);

/** How many of each size, of one handler. */
export type Histogram = Uint32Array;

export const emptyHistogram = (): Histogram => new Uint32Array(bucketCount);

/** The buckets that hold something. */
export const filled = (histogram: Histogram): { bucket: number; attempts: number }[] =>
  [...histogram].flatMap((attempts, bucket) => (attempts > 0 ? [{ bucket, attempts }] : []));
