// How many instances there are to be, purely, by a table (docs/recipes/services.md): what is seen, what that asks for, and what
// forbids it. More instances help only where work waits for an instance, and not for what stands behind it.
import type {
  LoadFigures,
  LoadTarget,
  QueueFigures,
  QueueRule,
  ScalingDecision,
  ScalingFigures,
  ScalingReason,
  ScalingRule,
} from "./contract.ts";

/** The service at this moment. */
export interface Standing {
  readonly nowMs: number;
  readonly desired: number;
  /** Healthy ones. */
  readonly running: number;
  readonly scaledAtMs: number | null;
  readonly deploying: boolean;
}

type Wish = readonly [count: number, reason: ScalingReason];

/** Scaling in waits until the figure is a tenth under its target, so that one at the target does not swing. */
const scaleInShare = 0.9;
/** Above these shares more instances only make more failures. */
const failingShare = 0.2;
const deadShare = 0.05;
const throttledShare = 0.1;

export const isOfQueue = (figures: ScalingFigures): figures is QueueFigures => "backlog" in figures;

/** The most that may run: the rule's own, or as many as go into what the downstream safely bears. */
export function capOf({ max, target }: Pick<ScalingRule, "max" | "target">): number {
  const reserve = target && "queue" in target ? target.downstream : undefined;
  // 0.3 / 0.1 is a little less than 3 to a computer.
  return reserve ? Math.min(max, Math.floor(reserve.safePerSecond / reserve.perInstance + 1e-9)) : max;
}

/** Why no instance is to be added, whatever waits; undefined where nothing is against it. */
function obstacle(
  { downstream }: QueueRule,
  { desired, running }: Standing,
  seen: QueueFigures,
): ScalingReason | undefined {
  if (seen.paused) return "paused";
  if (seen.downstreamOpen) return "downstream_open";
  if (seen.throttledShare > throttledShare) return "throttled";
  const isDying = seen.deadLetterGrowth > deadShare * Math.max(1, seen.endedLately);
  if (seen.retryShare > failingShare || isDying) return "failing";
  if (downstream && (seen.downstreamMs ?? 0) > downstream.slowAboveMs) return "downstream_slow";
  return running < desired ? "pending" : undefined;
}

const objectiveSeconds = ({ oldestAgeMs }: QueueRule): number => (oldestAgeMs ?? Infinity) / 1000;

/** As many times as the oldest is too old, and at most twice as many. */
function byAge(target: QueueRule, desired: number, { oldestAgeSeconds }: QueueFigures): number {
  const times = oldestAgeSeconds / objectiveSeconds(target);
  return times > 1 ? Math.max(1, Math.ceil(desired * Math.min(2, times))) : 0;
}

/** A quarter at a time, so that one quiet moment does not undo a busy hour. */
const slowly = (desired: number, wanted: number): number =>
  Math.max(wanted, desired - Math.max(1, Math.floor(desired / 4)));

/** As many as do what is produced: with fewer the backlog would only come back. */
const forProduced = ({ downstream }: QueueRule, { producedPerMinute }: QueueFigures): number =>
  downstream ? Math.ceil(producedPerMinute / 60 / downstream.perInstance) : 0;

function inOrSteady(target: QueueRule, desired: number, seen: QueueFigures): Wish {
  const isOld = seen.oldestAgeSeconds > scaleInShare * objectiveSeconds(target);
  const byBacklog = isOld ? desired : Math.ceil(seen.backlog / (target.backlogPerInstance * scaleInShare));
  if (byBacklog >= desired) return [desired, "steady"];
  const least = Math.max(byBacklog, forProduced(target, seen));
  return least >= desired ? [desired, "produced"] : [slowly(desired, least), "quiet"];
}

function wishOfQueue(target: QueueRule, standing: Standing, seen: QueueFigures): Wish {
  const { desired, running } = standing;
  const byBacklog = Math.ceil(seen.backlog / target.backlogPerInstance);
  const late = byAge(target, desired, seen);
  if (Math.max(byBacklog, late) <= desired) return inOrSteady(target, desired, seen);
  const against = obstacle(target, standing, seen);
  if (against) return [desired, against];
  // A few that grow old while nothing ends: whoever has them, or should have, does not work.
  if (byBacklog <= desired && running > 0 && seen.endedLately === 0) return [desired, "stuck"];
  return byBacklog >= late ? [byBacklog, "backlog"] : [late, "age"];
}

interface Load {
  readonly seen: number;
  readonly target: number;
  readonly reason: ScalingReason;
}

/** What asks for the most instances. */
function heaviest(rule: LoadTarget, { cpuPercent, requestsPerInstance = 0 }: LoadFigures): Load {
  const cpu: Load = { seen: cpuPercent, target: rule.cpuPercent, reason: "cpu" };
  const { requestsPerInstance: target = Infinity } = rule;
  const isByRequests = requestsPerInstance / target > cpu.seen / cpu.target;
  return isByRequests ? { seen: requestsPerInstance, target, reason: "requests" } : cpu;
}

function wishOfLoad(rule: LoadTarget, { desired, running }: Standing, figures: LoadFigures): Wish {
  const { seen, target, reason } = heaviest(rule, figures);
  const out = Math.ceil((running * seen) / target);
  if (out > desired) return [out, reason];
  const into = Math.ceil((running * seen) / (target * scaleInShare));
  return into < desired ? [slowly(desired, into), "quiet"] : [desired, "steady"];
}

function wishOf({ target }: ScalingRule, standing: Standing, seen: ScalingFigures): Wish {
  if (target && "queue" in target && isOfQueue(seen)) return wishOfQueue(target, standing, seen);
  if (target && "cpuPercent" in target && !isOfQueue(seen)) return wishOfLoad(target, standing, seen);
  return [standing.desired, "steady"];
}

/** What the bounds and the cool-downs leave of it. Nothing holds back what is above the cap: it does harm. */
function within(rule: ScalingRule, { desired, nowMs, scaledAtMs, deploying }: Standing, wish: Wish): Wish {
  const cap = capOf(rule);
  const atCap = cap < rule.max ? "downstream_cap" : "bounds";
  if (desired > cap) return [cap, atCap];
  if (desired < rule.min) return [rule.min, "bounds"];
  const [wanted, reason] = wish;
  const sinceMs = nowMs - (scaledAtMs ?? -Infinity);
  if (wanted > desired) {
    if (desired === cap) return [desired, atCap];
    return sinceMs >= rule.scaleOutCooldownMs ? [Math.min(cap, wanted), reason] : [desired, "cooldown"];
  }
  if (wanted === desired) return wish;
  if (desired === rule.min) return [desired, "steady"];
  if (deploying) return [desired, "deploying"];
  return sinceMs >= rule.scaleInCooldownMs ? [Math.max(rule.min, wanted), reason] : [desired, "cooldown"];
}

/** How many there are to be, with what was seen and why. */
export function decideScaling(
  rule: ScalingRule,
  standing: Standing,
  figures: ScalingFigures,
): ScalingDecision {
  const { desired: from, running } = standing;
  const [to, reason] = within(rule, standing, wishOf(rule, standing, figures));
  const action = to > from ? "out" : to < from ? "in" : "hold";
  return { action, reason, from, to, cap: capOf(rule), running, figures };
}
