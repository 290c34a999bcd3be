// A service and its log, for a person.
import type { Instance, Revision, ServiceEvent, ServiceReport } from "tuntas/service";
import type { Answer } from "../../command.ts";
import { bold, facts, instant, table, type Cell } from "../../render.ts";

const scalingOf = ({ scaling: { min, max, target } }: Revision): string => {
  if (target === null) return `fixed at ${min}`;
  const rule =
    "queue" in target
      ? `${target.backlogPerInstance} messages of ${target.queue} each`
      : `${target.cpuPercent} % of the CPU limit`;
  return `${min} to ${max}, by ${rule}`;
};

const whyStopped: Readonly<Record<string, string>> = {
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

const exitOf = ({ exit }: Instance): string =>
  exit === null ? "" : ` (${/^\d/.test(exit) ? `status ${exit}` : exit})`;

const standingOf = (instance: Instance): Cell =>
  instance.state === "stopped"
    ? `stopped${exitOf(instance)}: ${whyStopped[instance.stopReason ?? ""] ?? "it is not known why"}`
    : `${instance.state}, ${instance.health}`;

export function describeService(report: ServiceReport): string {
  const { name, kind, host, controlled, desired, healthy, active, revision, deployment, definition } = report;
  const head = facts({
    service: name,
    kind,
    revision: definition.version === null ? revision : `${revision} (${definition.version})`,
    deployment,
    instances: active ? `${healthy} healthy of ${desired}` : "stopped by a person",
    scaling: scalingOf(definition),
    cpu: `${definition.cpu.request} to ${definition.cpu.limit} units`,
    memory: `${definition.memory.request} to ${definition.memory.limit} MiB`,
    "stop timeout": `${definition.stopTimeoutMs / 1000} s`,
    "runs on": controlled ? host : `${host}, where nobody runs services: tuntas service run`,
  });
  const instances = table(report.instances, {
    instance: ({ id }) => id,
    revision: (each) => each.revision,
    port: ({ port }) => port,
    pid: ({ pid }) => pid,
    started: ({ startedAtMs }) => instant(startedAtMs),
    standing: standingOf,
  });
  const deployments = table(report.deployments, {
    deployment: ({ id }) => id,
    revision: (each) => each.revision,
    state: ({ state, rollbackOf }) => (rollbackOf === null ? state : `${state}, a rollback of ${rollbackOf}`),
    by: ({ actor, reason }) => (reason === null ? actor : `${actor}: ${reason}`),
    started: ({ startedAtMs }) => instant(startedAtMs),
    ended: ({ endedAtMs }) => instant(endedAtMs),
  });
  return [head, bold("Instances"), instances, bold("Deployments"), deployments].join("\n");
}

export const answerOf = (report: ServiceReport): Answer => ({
  document: report,
  text: describeService(report),
});

const detailOf = ({ detail }: ServiceEvent): string =>
  Object.entries(detail)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name} ${String(value)}`)
    .join(", ");

export const logTable = (events: readonly ServiceEvent[]): string =>
  table(events, {
    at: ({ atMs }) => instant(atMs),
    event: ({ event }) => event,
    deployment: ({ deploymentId }) => deploymentId,
    instance: ({ instanceId }) => instanceId,
    detail: detailOf,
  });
