// What a service's controller decides, purely: which instances start and stop next, when a deployment is over or has
// failed, what a health check came to. The formulas are those of ECS' rolling update and its circuit breaker; how many there
// are to be is decided in scaling/state.ts.
import type { CheckTimes, DeploymentState, Health, RolloutTimes, StopReason } from "./contract.ts";

/** An instance that has not stopped. */
export interface LiveInstance {
  readonly id: string;
  readonly revision: number;
  readonly state: "starting" | "running" | "stopping" | "stopped";
  readonly health: Health;
  /** It holds a message: it is not stopped for scaling in. */
  readonly working?: boolean;
}

export interface ServiceView {
  readonly nowMs: number;
  readonly desired: number;
  readonly rollout: RolloutTimes;
  readonly deployment: {
    readonly id: string;
    readonly revision: number;
    readonly state: DeploymentState;
    readonly failures: number;
    readonly failedAtMs: number | null;
    readonly rollbackOf: string | null;
    readonly startedAtMs: number;
    readonly steadyAtMs: number | null;
  };
  /** Where the deployment is tied to alarms: the one that went off since it began, and how long they are to be quiet. */
  readonly alarms?: { readonly fired: FiredAlarm | undefined; readonly bakeMs: number } | undefined;
  /** The revision of the last deployment that was completed before this one. */
  readonly lastCompleted: number | null;
  readonly instances: readonly LiveInstance[];
}

export interface FiredAlarm {
  readonly alarm: string;
  readonly reason: string;
}

/** Why a deployment has failed. */
export type FailureCause = FiredAlarm | { readonly failures: number; readonly threshold: number };

export type Action =
  | { readonly do: "start"; readonly count: number }
  | { readonly do: "stop"; readonly ids: readonly string[]; readonly reason: StopReason }
  /** All is healthy; its alarms are watched for a while. */
  | { readonly do: "bake"; readonly ms: number }
  | { readonly do: "complete" }
  | { readonly do: "fail"; readonly cause: FailureCause; readonly rollbackTo: number | null };

/** How many may run, and how many must stay healthy, of so many desired. */
export const roomOf = (
  { minimumHealthyPercent, maximumPercent }: Pick<RolloutTimes, "minimumHealthyPercent" | "maximumPercent">,
  desired: number,
) => ({
  most: Math.floor((desired * maximumPercent) / 100),
  least: Math.ceil((desired * minimumHealthyPercent) / 100),
});

/** ECS: half of the desired count, but never under 3 nor over 200. */
export const breakerThreshold = (desired: number): number =>
  Math.min(200, Math.max(3, Math.ceil(desired / 2)));

const restartMaxMs = 27 * 60_000;

/** How long to wait after so many failures in a row: the first is replaced at once, then 1 s, 2 s, 4 s … up to ECS' 27 min. */
export const restartDelayMs = (failures: number): number =>
  failures <= 1 ? 0 : Math.min(restartMaxMs, 1000 * 2 ** Math.min(failures - 2, 20));

const failing: ReadonlySet<StopReason> = new Set(["exited", "unhealthy", "memory", "start_failed"]);
/** Whether it stopped for a fault of its own. */
export const isFailure = (reason: StopReason): boolean => failing.has(reason);

const isHealthy = ({ health }: LiveInstance): boolean => health === "healthy";
const byId = (a: LiveInstance, b: LiveInstance): number => Number(BigInt(a.id) - BigInt(b.id));

/** The ones to give up first: those that serve nobody, then the youngest. */
const leastUseful = (a: LiveInstance, b: LiveInstance): number =>
  Number(isHealthy(a)) - Number(isHealthy(b)) || byId(b, a);

interface Groups {
  readonly fresh: readonly LiveInstance[];
  readonly old: readonly LiveInstance[];
  readonly leaving: number;
}

function startable({ deployment, desired, nowMs, rollout }: ServiceView, { fresh, old }: Groups): number {
  const missing = Math.min(
    desired - fresh.length,
    Math.max(roomOf(rollout, desired).most, 0) - fresh.length - old.length,
  );
  if (missing <= 0 || deployment.state === "failed") return 0;
  // One batch after another: the next begins when every instance of the last has passed its health check.
  if (deployment.state === "in_progress" && !fresh.every(isHealthy)) return 0;
  return nowMs - (deployment.failedAtMs ?? 0) >= restartDelayMs(deployment.failures) ? missing : 0;
}

/** Old ones go as far as enough healthy ones stay; those that are not healthy serve nobody and go at once. */
function replaceable({ desired, rollout, deployment }: ServiceView, { fresh, old }: Groups): LiveInstance[] {
  if (deployment.state === "failed") return [];
  const healthy = [...fresh, ...old].filter(isHealthy).length;
  const spare = Math.max(0, healthy - roomOf(rollout, desired).least);
  const sick = old.filter((instance) => !isHealthy(instance));
  return [...sick, ...old.filter(isHealthy).toSorted(byId).slice(0, spare)];
}

const isOver = ({ deployment, desired }: ServiceView, { fresh, old, leaving }: Groups): boolean =>
  deployment.state === "in_progress" &&
  old.length === 0 &&
  leaving === 0 &&
  fresh.length === desired &&
  fresh.every(isHealthy);

function causeOf({ deployment, desired, rollout, alarms }: ServiceView): FailureCause | undefined {
  if (deployment.state !== "in_progress") return undefined;
  if (alarms?.fired) return alarms.fired;
  const { failures } = deployment;
  const threshold = breakerThreshold(desired);
  return rollout.circuitBreaker && failures >= threshold ? { failures, threshold } : undefined;
}

function failure(view: ServiceView): Action | undefined {
  const cause = causeOf(view);
  if (!cause) return undefined;
  const { deployment, rollout, lastCompleted } = view;
  const undo = "alarm" in cause ? rollout.alarms?.rollback : rollout.circuitBreaker?.rollback;
  // A rollback that fails has nothing to go back to, and neither has a first deployment: it stands still, as on ECS.
  const back = undo && deployment.rollbackOf === null ? lastCompleted : null;
  return { do: "fail", cause, rollbackTo: back === deployment.revision ? null : back };
}

/** It is over; where it is tied to alarms, once these have been quiet for long enough. */
function end({ deployment: { steadyAtMs }, nowMs, alarms }: ServiceView): Action[] {
  const bakeMs = alarms?.bakeMs ?? 0;
  if (bakeMs > 0 && steadyAtMs === null) return [{ do: "bake", ms: bakeMs }];
  const quietMs = steadyAtMs === null ? 0 : nowMs - steadyAtMs;
  return quietMs >= bakeMs ? [{ do: "complete" }] : [];
}

/** What is to be done next; nothing where all is as it should be, or something is waited for. */
export function decide(view: ServiceView): Action[] {
  const { desired, deployment, instances } = view;
  const failed = failure(view);
  if (failed) return [failed];
  const live = instances.filter(({ state }) => state !== "stopping");
  const unhealthy = live.filter(({ health }) => health === "unhealthy");
  const able = live.filter(({ health }) => health !== "unhealthy");
  const groups: Groups = {
    fresh: able.filter(({ revision }) => revision === deployment.revision),
    old: able.filter(({ revision }) => revision !== deployment.revision),
    leaving: instances.length - live.length,
  };
  if (unhealthy.length === 0 && isOver(view, groups)) return end(view);
  const surplus = groups.fresh
    .filter(({ working }) => !working)
    .toSorted(leastUseful)
    .slice(0, Math.max(0, groups.fresh.length - desired));
  const count = startable(view, groups);
  return [
    ...stopping(unhealthy, "unhealthy"),
    ...stopping(surplus, "scale_in"),
    ...stopping(desired === 0 ? groups.old : replaceable(view, groups), "deployment"),
    ...(count > 0 ? [{ do: "start", count } as const] : []),
  ];
}

const stopping = (instances: readonly LiveInstance[], reason: StopReason): Action[] =>
  instances.length === 0 ? [] : [{ do: "stop", ids: instances.map(({ id }) => id), reason }];

export interface HealthState {
  readonly health: Health;
  /** In a row, each an interval after the one before. */
  readonly failures: number;
  readonly countedAtMs: number;
}

export const newHealth = (health: Health = "unknown"): HealthState => ({
  health,
  failures: 0,
  countedAtMs: -Infinity,
});

/** After a check: one success makes healthy; so many failures in a row, past the grace, make unhealthy. */
export function nextHealth(
  state: HealthState,
  check: { readonly ok: boolean; readonly atMs: number; readonly ageMs: number },
  { intervalMs, retries, graceMs }: CheckTimes,
): HealthState {
  if (check.ok) return newHealth("healthy");
  if (check.ageMs < graceMs || check.atMs - state.countedAtMs < intervalMs) return state;
  const failures = state.failures + 1;
  return { health: failures >= retries ? "unhealthy" : state.health, failures, countedAtMs: check.atMs };
}

export type StopStep = "wait" | "terminate" | "kill";

/** Nothing new, then SIGTERM after the delay, then SIGKILL after the timeout. */
export function stopStep(
  of: {
    readonly stoppingAtMs: number;
    readonly terminatedAtMs: number | null;
    readonly killedAtMs: number | null;
  },
  nowMs: number,
  {
    deregistrationDelayMs,
    stopTimeoutMs,
  }: { readonly deregistrationDelayMs: number; readonly stopTimeoutMs: number },
): StopStep {
  if (of.killedAtMs !== null) return "wait";
  if (of.terminatedAtMs === null)
    return nowMs - of.stoppingAtMs >= deregistrationDelayMs ? "terminate" : "wait";
  return nowMs - of.terminatedAtMs >= stopTimeoutMs ? "kill" : "wait";
}

/** Percent of their CPU limit, on average; undefined while none was measured. */
export function averageCpu(
  limit: number,
  usages: readonly { readonly cpuUnits: number | null }[],
): number | undefined {
  const known = usages.flatMap(({ cpuUnits }) => cpuUnits ?? []);
  return known.length === 0
    ? undefined
    : (known.reduce((total, units) => total + units, 0) / known.length / limit) * 100;
}
