// What people read of scaling, wherever they do: the rule, what it saw, what it decided and why.
import { durationText } from "../../core/duration.ts";
import type {
  LoadFigures,
  LoadTarget,
  QueueFigures,
  QueueRule,
  ScalingDecision,
  ScalingReason,
  ScalingRule,
} from "./contract.ts";
import { capOf, isOfQueue } from "./state.ts";

function queueText({ queue, backlogPerInstance, oldestAgeMs, downstream }: QueueRule): string {
  return [
    `${backlogPerInstance} messages of ${queue} each`,
    ...(oldestAgeMs === undefined ? [] : [`none older than ${durationText(oldestAgeMs)}`]),
    ...(downstream ? [`at most ${downstream.safePerSecond} calls a second of ${downstream.name}`] : []),
  ].join(", ");
}

const loadText = ({ cpuPercent, requestsPerInstance }: LoadTarget): string =>
  requestsPerInstance === undefined
    ? `${cpuPercent} % of the CPU limit`
    : `${requestsPerInstance} requests a minute each, at most ${cpuPercent} % of the CPU limit`;

export function ruleText(rule: ScalingRule): string {
  const { min, max, target } = rule;
  if (target === null) return `fixed at ${min}`;
  const by = "queue" in target ? queueText(target) : loadText(target);
  const cap = capOf(rule);
  return `${min} to ${max}, by ${by}${cap < max ? `, which makes ${cap} the most` : ""}`;
}

const because: Readonly<Record<ScalingReason, string>> = {
  backlog: "more waits than these are for",
  age: "the oldest message is older than it may be",
  requests: "they are asked more than they are for",
  cpu: "they take more of the processor than they should",
  quiet: "fewer do for what there is",
  steady: "it is as it should be",
  bounds: "the rule allows no other count",
  downstream_cap: "the downstream safely bears no more",
  downstream_open: "the downstream is left alone after failures: more instances would only wait for it too",
  downstream_slow: "the downstream is slow: more calls would make it slower",
  throttled: "the downstream has as many calls as it may: see its rate, not the instances",
  failing: "too many attempts fail: find what is poison, or roll back, before more of it is done",
  pending: "instances that were asked for do not run yet: see why, and whether the machine has room",
  stuck: "a few messages grow old and nothing ends: look for a worker that hangs",
  paused: "the queue is paused",
  produced: "fewer would not do what is produced",
  cooldown: "it was scaled a moment ago",
  deploying: "a deployment is under way",
};

/** Why the rule decided as it did, and what to do where that is somebody's task. */
export const reasonText = (reason: ScalingReason): string => because[reason];

/** `goes from 2 to 6: more waits than these are for`. */
export const decisionText = ({ from, to, reason }: ScalingDecision): string =>
  `${from === to ? `stays at ${to}` : `goes from ${from} to ${to}`}: ${reasonText(reason)}`;

const round = (value: number): string => Number(value.toFixed(1)).toLocaleString("en");
const percent = (share: number): string => `${round(share * 100)} %`;
const took = (ms: number | null): string => (ms === null ? "not seen" : `${round(ms)} ms`);

const queueFigures = (seen: QueueFigures): Record<string, string> => ({
  waiting: `${round(seen.backlog)}, ${round(seen.backlogPerInstance)} for each instance`,
  oldest: `${round(seen.oldestAgeSeconds)} s`,
  "in flight": round(seen.inFlight),
  produced: `${round(seen.producedPerMinute)} a minute`,
  processed: `${round(seen.processedPerMinute)} a minute`,
  "an attempt takes": took(seen.processingMs),
  downstream: `${took(seen.downstreamMs)}${seen.downstreamOpen ? ", left alone after failures" : ""}`,
  "tried again": `${percent(seen.retryShare)}, ${percent(seen.throttledShare)} for want of room`,
  "new dead letters": `${round(seen.deadLetterGrowth)} in five minutes`,
});

const loadFigures = ({ cpuPercent, requestsPerInstance }: LoadFigures): Record<string, string> => ({
  cpu: `${round(cpuPercent)} % of the limit`,
  ...(requestsPerInstance !== undefined && {
    requests: `${round(requestsPerInstance)} a minute for each instance`,
  }),
});

/** What it saw, by the name of each figure. */
export const figureTexts = ({ figures, running, cap }: ScalingDecision): Record<string, string> => ({
  ...(isOfQueue(figures) ? queueFigures(figures) : loadFigures(figures)),
  instances: `${running} healthy, at most ${cap}`,
});
