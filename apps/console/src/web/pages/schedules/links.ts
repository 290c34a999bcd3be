import type { Occurrence, ScheduleReport } from "../../../api/index.ts";
import { queueHref } from "../queues/links.ts";
import { machineHref, runHref } from "../workflows/links.ts";

type Target = ScheduleReport["target"];

export const scheduleHref = (name: string): string => `/schedules/${encodeURIComponent(name)}`;

/** Over the wire a target is named by its ARN. */
export const plainName = ({ name }: Target): string => name.slice(name.lastIndexOf(":") + 1);

/** Where what a schedule starts is to be seen. */
export function targetHref(target: Target): string {
  if (target.kind === "queue") return queueHref(plainName(target));
  return target.kind === "workflow" ? machineHref(plainName(target)) : "/outbox";
}

export const targetText = (target: Target): string => `${target.kind} ${plainName(target)}`;

/** The message or the execution that an occurrence began; undefined where there is none, or none any more. */
export function workHref({ target, reference, state }: Occurrence): string | undefined {
  if (reference === null) return undefined;
  if (target.kind === "workflow") return runHref(reference);
  return target.kind === "queue" && state !== "succeeded"
    ? `/queues?message=${encodeURIComponent(reference)}`
    : undefined;
}

/** How one occurrence is named in an address. */
export const keyOf = ({ dueMs, run }: Pick<Occurrence, "dueMs" | "run">): string => `${dueMs}-${run}`;
