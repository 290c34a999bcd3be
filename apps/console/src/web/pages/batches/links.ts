import type { JobReport, PartitionState } from "../../../api/index.ts";

/** A job; its partitions of one state where one is named. */
export const jobHref = (id: string, state?: PartitionState): string =>
  state === undefined ? `/batches/${id}` : `/batches/${id}?state=${state}`;
export const batchHref = (name: string): string => `/batches?batch=${encodeURIComponent(name)}`;

const hash = /^[0-9a-f]{40,}$/;

/** A job that was started without a key is known by the hash of its input. */
export const keyText = ({ key }: Pick<JobReport, "key">): string =>
  hash.test(key) ? `${key.slice(0, 12)}…` : key;
