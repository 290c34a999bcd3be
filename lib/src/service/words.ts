// What people read of services, wherever they do: the scaling rule, and why an instance stopped.
import type { Instance, ScalingRule, StopReason } from "./contract.ts";

export function ruleText({ min, max, target }: ScalingRule): string {
  if (target === null) return `fixed at ${min}`;
  const rule =
    "queue" in target
      ? `${target.backlogPerInstance} messages of ${target.queue} each`
      : `${target.cpuPercent} % of the CPU limit`;
  return `${min} to ${max}, by ${rule}`;
}

const why: Readonly<Record<StopReason, string>> = {
  exited: "it ended by itself; read what it printed",
  unhealthy: "its health check failed; read what it printed",
  memory: "it exceeded its memory limit",
  start_failed: "the system could not start it",
  deployment: "another revision took its place",
  scale_in: "fewer were to run",
  person: "a person stopped it",
  controller: "the controller of its machine ended",
  lost: "it had ended while nobody ran the services of its machine",
  moved: "its service runs on another machine now",
};

/** Why it stops or has stopped: `status 4: it ended by itself; read what it printed`; undefined while it runs. */
export function stopText({ stopReason, exit }: Pick<Instance, "stopReason" | "exit">): string | undefined {
  if (stopReason === null) return undefined;
  const how = exit === null ? "" : `${/^\d/.test(exit) ? `status ${exit}` : exit}: `;
  return how + why[stopReason];
}
