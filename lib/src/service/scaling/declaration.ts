// What a scaling rule must say, and the rule as a revision keeps it.
import { inspect } from "node:util";
import { toMs, type Duration } from "../../core/duration.ts";
import type { NamesOf } from "../../core/options.ts";
import { got, type Finding } from "../../engine/findings.ts";
import { isWhole, wrongTime, type Given } from "../finding.ts";
import type { LoadTarget, QueueRule, QueueTarget, Reserve, Scaling, ScalingRule } from "./contract.ts";
import { capOf } from "./state.ts";

export const scalingNames: NamesOf<Scaling> = {
  min: true,
  max: true,
  target: {
    queue: true,
    backlogPerInstance: true,
    oldestAge: true,
    downstream: { name: true, safePerSecond: true, perInstance: true, slowAbove: true },
    cpuPercent: true,
    requestsPerInstance: true,
  },
  scaleOutCooldown: true,
  scaleInCooldown: true,
  fixed: true,
  because: true,
};

const isPositive = (value: unknown): value is number =>
  typeof value === "number" && Number.isFinite(value) && value > 0;

const queueOf = (queue: QueueTarget["queue"]): string => (typeof queue === "string" ? queue : queue?.name);

function* wrongReserve(value: Given<Reserve> | "none"): Generator<Finding> {
  if (value === "none") return;
  const field = "scaling.target.downstream";
  const { name, safePerSecond, perInstance, slowAbove } = value ?? {};
  if (typeof name !== "string" || name === "" || !isPositive(safePerSecond) || !isPositive(perInstance))
    return yield `${field}: expected { name, safePerSecond, perInstance, slowAbove } with rates above 0, or "none", got ${inspect(value)}`;
  yield (
    safePerSecond < perInstance &&
    `${field}: expected safePerSecond for at least one instance (${perInstance}), ${got(safePerSecond)}`
  );
  yield wrongTime(`${field}.slowAbove`, slowAbove, [1, 300_000]);
}

function* wrongTarget(target: Given<QueueTarget & LoadTarget>): Generator<Finding> {
  const form = "{ queue, backlogPerInstance, oldestAge, downstream } or { cpuPercent, requestsPerInstance? }";
  if (target && "cpuPercent" in target)
    return yield (
      [target.cpuPercent, target.requestsPerInstance ?? 1].some((each) => !isPositive(each)) &&
      `scaling.target: expected ${form} above 0, ${got(target)}`
    );
  const queue = target?.queue as QueueTarget["queue"] | undefined;
  if (!target || !queue || !queueOf(queue) || !isPositive(target.backlogPerInstance))
    return yield `scaling.target: expected ${form} above 0, ${got(target)}`;
  yield wrongTime("scaling.target.oldestAge", target.oldestAge, [1000, 14 * 86_400_000]);
  yield* wrongReserve(target.downstream as Given<Reserve>);
}

export function* wrongScaling(value: Scaling | undefined): Generator<Finding> {
  if (value && "fixed" in value) {
    yield !isWhole(value.fixed, 1, 1000) && `scaling.fixed: expected 1 to 1000, ${got(value.fixed)}`;
    return yield !value.because?.trim() && "scaling.because: expected why it is not scaled";
  }
  if (!value || typeof value !== "object")
    return yield `scaling: expected { min, max, target, scaleOutCooldown, scaleInCooldown } or { fixed, because }, ${got(value)}`;
  const { min, max, target } = value;
  yield (
    (!isWhole(min, 0, 1000) || !isWhole(max, 1, 1000) || min > max) &&
    `scaling: expected 0 <= min <= max <= 1000, got ${got(min)} and ${got(max)}`
  );
  yield* wrongTarget(target as Given<QueueTarget & LoadTarget>);
  for (const field of ["scaleOutCooldown", "scaleInCooldown"] as const)
    yield wrongTime(`scaling.${field}`, value[field], [0, 3_600_000]);
}

/** A rule whose least is more than what its downstream bears contradicts itself. */
export function wrongCap(scaling: Scaling): Finding {
  if ("fixed" in scaling) return false;
  const cap = capOf(ruleOf(scaling));
  return (
    cap < scaling.min &&
    `scaling: min is ${scaling.min}, and its downstream bears ${cap} (safePerSecond / perInstance)`
  );
}

function queueRuleOf({ queue, backlogPerInstance, oldestAge, downstream }: QueueTarget): QueueRule {
  const rule = { queue: queueOf(queue), backlogPerInstance, oldestAgeMs: toMs(oldestAge) };
  if (downstream === "none") return rule;
  const { slowAbove, ...reserve } = downstream;
  return { ...rule, downstream: { ...reserve, slowAboveMs: toMs(slowAbove as Duration) } };
}

export function ruleOf(scaling: Scaling): ScalingRule {
  if ("fixed" in scaling) {
    const { fixed } = scaling;
    return { min: fixed, max: fixed, target: null, scaleOutCooldownMs: 0, scaleInCooldownMs: 0 };
  }
  const { min, max, target, scaleOutCooldown, scaleInCooldown } = scaling;
  return {
    min,
    max,
    target: "queue" in target ? queueRuleOf(target) : target,
    scaleOutCooldownMs: toMs(scaleOutCooldown),
    scaleInCooldownMs: toMs(scaleInCooldown),
  };
}
