// What a batch decides, purely: whether a plan is one, what may be done to a job in which state, what a failure means for a
// partition, and when a job will be done.
import { Outcome, outcomeOfThrown } from "../core/outcome.ts";
import { isStorable } from "../core/text.ts";
import type { JobState, Partition, Verb } from "./contract.ts";
import { partitionsMax } from "./contract.ts";

const transitions: Readonly<Record<Verb, { readonly from: readonly JobState[]; readonly to: JobState }>> = {
  pause: { from: ["waiting", "running"], to: "paused" },
  resume: { from: ["paused"], to: "waiting" },
  retry: { from: ["failed"], to: "waiting" },
  cancel: { from: ["planning", "waiting", "running", "promoting", "failed", "paused"], to: "cancelled" },
};

/** The state that the verb leads to; undefined where it cannot be said in this one. */
export function after(verb: Verb, state: JobState): JobState | undefined {
  const { from, to } = transitions[verb];
  return from.includes(state) ? to : undefined;
}

/** What may be said to a job in this state. */
export const verbsOf = (state: JobState): Verb[] =>
  (Object.keys(transitions) as Verb[]).filter((verb) => after(verb, state) !== undefined);

/** Whether nothing happens to it by itself any more. */
export const isSettled = (state: JobState): boolean =>
  state === "completed" || state === "cancelled" || state === "failed" || state === "paused";

const keyLengthMax = 200;
const inputLengthMax = 100_000;

/** A partition as it is kept. */
export interface Planned {
  readonly key: string;
  /** JSON text. */
  readonly input: string;
}

/** What is wrong with the list of partitions; undefined where nothing is. */
export function wrongPlan(partitions: unknown): string | undefined {
  if (!Array.isArray(partitions)) return "expected a list of partitions";
  if (partitions.length < 1 || partitions.length > partitionsMax)
    return `expected 1 to ${partitionsMax} partitions, got ${partitions.length}`;
  const keys = new Set<string>();
  for (const [index, partition] of partitions.entries()) {
    const { key } = (partition ?? {}) as { key?: unknown };
    if (typeof key !== "string" || key === "" || key.length > keyLengthMax || !isStorable(key))
      return `partition ${index + 1}: expected a key of 1 to ${keyLengthMax} characters`;
    if (keys.has(key)) return `partition ${index + 1}: the key ${JSON.stringify(key)} was there before`;
    keys.add(key);
  }
  return undefined;
}

/** The partitions as they are kept, and what is wrong with that. */
export function planOf(partitions: readonly Partition[]): readonly Planned[] | string {
  const planned = partitions.map((partition) => ({ key: partition.key, input: JSON.stringify(partition) }));
  const wrong = planned.find(({ input }) => input.length > inputLengthMax || !isStorable(input));
  return wrong
    ? `partition ${JSON.stringify(wrong.key)}: expected at most ${inputLengthMax} characters of JSON that text can hold; put what is large into a table`
    : planned;
}

/** The same in every attempt: of two jobs with one input that are one job, too. */
export const partitionKey = (job: { readonly batch: string; readonly key: string }, key: string): string =>
  `${job.batch}/${job.key}/${key}`;

/** Whether the attempt was the last: no more are left, or what it came to is final. */
export const isLast = ({ kind }: Outcome, attempt: number, attemptsMax: number): boolean =>
  attempt >= attemptsMax || kind === "rejected" || kind === "poison" || kind === "unknown";

/** What a handler's call came to that did not succeed; undefined where it did. */
export const failureOf = (returned: unknown): Outcome | undefined =>
  returned instanceof Outcome ? outcomeOfThrown(returned) : undefined;

export interface Pace {
  readonly open: number;
  /** Partitions that have ended since it was last begun. */
  readonly endedSince: number;
  readonly sinceMs: number;
}

/** How many partitions end in a minute; null where there is no pace yet. */
export const perMinuteOf = ({ endedSince, sinceMs }: Pace): number | null =>
  endedSince === 0 || sinceMs <= 0 ? null : (endedSince * 60_000) / sinceMs;

/** How long what is open takes at this pace; null where there is none yet. */
export const leftMsOf = ({ open, endedSince, sinceMs }: Pace): number | null =>
  open === 0 ? 0 : endedSince === 0 ? null : Math.round((sinceMs / endedSince) * open);
