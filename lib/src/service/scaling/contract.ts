// What a service is scaled by, and what is on record of each decision: what was seen, how many that makes, and why.
import type { Duration } from "../../core/duration.ts";

/** What stands behind the work, and how much of it this service has reserved for itself. */
export interface Reserve {
  /** The name of a `provider` or a `downstream`: while it is left alone, or slow, nothing is added. */
  readonly name: string;
  /** Calls a second that all instances together may make of it. */
  readonly safePerSecond: number;
  /** Calls a second that one instance makes at full work. There are never more instances than go into the safe rate. */
  readonly perInstance: number;
  /** Where its calls take longer than this on average, it is slow. */
  readonly slowAbove: Duration;
}

export interface QueueTarget {
  readonly queue: string | { readonly name: string };
  /** Messages that wait in the queue, for each instance. */
  readonly backlogPerInstance: number;
  /** The queue's objective: the message at its front is to be no older. */
  readonly oldestAge: Duration;
  /** `"none"`: what is done with a message reaches nothing that more instances could overload. */
  readonly downstream: Reserve | "none";
}

/** What instances are asked to do, and what it takes of them. */
export interface LoadTarget {
  /** Percent of the CPU limit, on average. */
  readonly cpuPercent: number;
  /**
   * Requests a minute for each instance; the CPU is then the guard, and the one that asks for more decides. They are counted by the
   * HTTP plugin here, by the load balancer on AWS (ALBRequestCountPerTarget).
   */
  readonly requestsPerInstance?: number;
}

/** Target tracking, as Application Auto Scaling has it; by a queue with what stands behind it in view. */
export type Scaling =
  | {
      readonly min: number;
      readonly max: number;
      readonly target: QueueTarget | LoadTarget;
      readonly scaleOutCooldown: Duration;
      readonly scaleInCooldown: Duration;
    }
  /** It is not scaled, and why not. */
  | { readonly fixed: number; readonly because: string };

export interface QueueRule {
  readonly queue: string;
  readonly backlogPerInstance: number;
  /** Undefined in revisions of before there was such a thing; so is the downstream. */
  readonly oldestAgeMs?: number;
  readonly downstream?: (Omit<Reserve, "slowAbove"> & { readonly slowAboveMs: number }) | undefined;
}

export interface ScalingRule {
  readonly min: number;
  readonly max: number;
  readonly target: QueueRule | LoadTarget | null;
  readonly scaleOutCooldownMs: number;
  readonly scaleInCooldownMs: number;
}

/** What was seen of a queue and of what stands behind it. Rates and times are those of the last minute. */
export interface QueueFigures {
  /** Messages that wait. */
  readonly backlog: number;
  readonly backlogPerInstance: number;
  /** Age of the message at the front, in seconds; 0 where none waits. */
  readonly oldestAgeSeconds: number;
  readonly inFlight: number;
  readonly paused: boolean;
  readonly producedPerMinute: number;
  /** Attempts that ended their message. */
  readonly processedPerMinute: number;
  /** Attempts that ended in the last five minutes, however. */
  readonly endedLately: number;
  /** How long an attempt took, on average; null where none ended. */
  readonly processingMs: number | null;
  /** How long a call of the downstream took; null where there was none. */
  readonly downstreamMs: number | null;
  /** It is left alone after failures, by this service or by any. */
  readonly downstreamOpen: boolean;
  /** Of the attempts, those that will be made again. */
  readonly retryShare: number;
  /** Of the attempts, those that were refused because the downstream has as many calls as it may. */
  readonly throttledShare: number;
  /** Messages that came to wait for a person, in the last five minutes. */
  readonly deadLetterGrowth: number;
}

export interface LoadFigures {
  /** Percent of the CPU limit, on average. */
  readonly cpuPercent: number;
  /** In the last minute; undefined where the rule does not ask. */
  readonly requestsPerInstance?: number;
}

export type ScalingFigures = QueueFigures | LoadFigures;

export const scalingReasons = [
  "backlog",
  "age",
  "cpu",
  "requests",
  "quiet",
  "steady",
  "bounds",
  "downstream_cap",
  "downstream_open",
  "downstream_slow",
  "throttled",
  "failing",
  "pending",
  "stuck",
  "paused",
  "produced",
  "cooldown",
  "deploying",
] as const;
export type ScalingReason = (typeof scalingReasons)[number];

export interface ScalingDecision {
  readonly action: "out" | "in" | "hold";
  readonly reason: ScalingReason;
  /** How many there were to be, and how many there are to be. */
  readonly from: number;
  readonly to: number;
  /** The most that there may be: the rule's, or what the downstream bears. */
  readonly cap: number;
  /** Healthy ones. */
  readonly running: number;
  readonly figures: ScalingFigures;
}

export interface NotedDecision extends ScalingDecision {
  readonly atMs: number;
}
