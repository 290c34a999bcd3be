// The decisions of the room, pure: which partition a key is in, what becomes of a failure, how many records to try next, who
// takes how many partitions, and what of the segments is begun and dropped.
import { backoffMs, type Backoff } from "../core/backoff.ts";
import type { Outcome } from "../core/outcome.ts";
import type { Hot } from "./contract.ts";

const [prime, basis] = [0x01000193, 0x811c9dc5];

/** FNV-1a over the units of the text, then Murmur's last steps, so that keys which differ at their end part too. */
function hashOf(text: string): number {
  let hash = basis;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), prime);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** The partition of a key. Neighbours in the hash stay neighbours at another number, which is what a seam goes by. */
export const partitionOf = (key: string, partitions: number): number =>
  Math.floor((hashOf(key) / 2 ** 32) * partitions);

export interface FailurePolicy {
  readonly attemptsMax: number;
  readonly backoff: Backoff;
  readonly onBadRecord: "park" | "stop";
}

export type FailureDecision =
  | { readonly kind: "retry"; readonly delayMs: number }
  | { readonly kind: "park" }
  | { readonly kind: "stop" };

/** What becomes of a record that has failed so many times, this one included. What can never succeed is not tried again. */
export function decideFailure(
  { kind, afterMs }: Pick<Outcome, "kind" | "afterMs">,
  attempts: number,
  { attemptsMax, backoff, onBadRecord }: FailurePolicy,
  random: number,
): FailureDecision {
  const isFinal = kind === "poison" || kind === "rejected" || kind === "unknown";
  if (isFinal || attempts >= attemptsMax) return { kind: onBadRecord };
  return { kind: "retry", delayMs: afterMs ?? backoffMs(backoff, attempts, random) };
}

/**
 * How many records are tried next where some of `count` failed: those before the one that is known to have, else half of
 * them, down to one, which then is the one.
 */
export const fewer = (count: number, failedAt: number | undefined): number =>
  failedAt !== undefined && failedAt > 0 ? failedAt : failedAt === 0 ? 1 : Math.ceil(count / 2);

/** The most partitions that one of so many processes takes; together they take all. */
export const shareOf = (partitions: number, members: number): number =>
  Math.ceil(partitions / Math.max(1, members));

/** Of a retention there are so many segments: what is kept longer than asked for is one part at most. */
const segmentsPerRetention = 8;

/** Whether the last segment has had its time, and holds anything. */
export const isRollDue = (ageMs: number, records: number, retentionMs: number): boolean =>
  records > 0 && ageMs >= retentionMs / segmentsPerRetention;

/** A segment that is not appended to any more. */
export interface Sealed {
  readonly segment: number;
  /** When the next one began. */
  readonly endedMsAgo: number;
  /** Which consumers have not read all of it. */
  readonly unreadBy: readonly string[];
}

/** From the oldest on, those whose time is over: up to the first that somebody still has to read. */
export function dropped(sealed: readonly Sealed[], retentionMs: number) {
  const over = sealed.filter(({ endedMsAgo }) => endedMsAgo >= retentionMs);
  const held = over.findIndex(({ unreadBy }) => unreadBy.length > 0);
  return held < 0 ? { drop: over, held: [] } : { drop: over.slice(0, held), held: over.slice(held) };
}

/** What was appended to a partition lately. */
export interface Heat {
  readonly stream: string;
  readonly partitions: number;
  readonly partition: number;
  /** So many of its latest records. */
  readonly records: number;
  /** In how long; a sample that is full says it of the time that it covers. */
  readonly withinMs: number;
  /** The key that most of them have. */
  readonly key: string;
}

/** Fewer records than these say nothing. */
const heatLeast = 50;
const [hotTimes, hotShare] = [2, 0.8];

/** Partitions that get more than twice their share, or nearly all that there is. */
export function hotPartitions(heats: readonly Heat[]): Hot[] {
  const rateOf = ({ records, withinMs }: Heat) => records / Math.max(1, withinMs);
  return heats.flatMap((heat) => {
    const all = heats.filter(({ stream }) => stream === heat.stream);
    const sum = all.reduce((total, each) => total + rateOf(each), 0);
    const share = rateOf(heat) / sum;
    const times = share * heat.partitions;
    const isHot = heat.records >= heatLeast && (times > hotTimes || share > hotShare);
    return isHot ? [{ stream: heat.stream, partition: heat.partition, key: heat.key, times }] : [];
  });
}
