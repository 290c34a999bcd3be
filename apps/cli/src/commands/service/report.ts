// A service and its log, for a person.
import { durationText } from "tuntas";
import {
  decisionText,
  figureTexts,
  ruleText,
  stopText,
  type Instance,
  type NotedDecision,
  type ServiceEvent,
  type ServiceReport,
} from "tuntas/service";
import type { Answer } from "../../command.ts";
import { bold, facts, instant, table, type Cell } from "../../render.ts";

const standingOf = (instance: Instance): Cell =>
  instance.state === "stopped"
    ? `stopped, ${stopText(instance) ?? "it is not known why"}`
    : `${instance.state}, ${instance.health}`;

const mebibytes = (bytes: number | null): Cell =>
  bytes === null ? null : `${Math.round(bytes / 2 ** 20)} MiB`;

/** What the scaling rule saw when it decided last. */
const figuresOf = (decision: NotedDecision | null): string[] =>
  decision === null ? [] : [bold(`Scaling, ${instant(decision.atMs)}`), facts(figureTexts(decision))];

export function describeService(report: ServiceReport): string {
  const { name, kind, host, controlled, desired, healthy, active, revision, deployment, definition } = report;
  const { decision } = report;
  const head = facts({
    service: name,
    kind,
    revision: definition.version === null ? revision : `${revision} (${definition.version})`,
    deployment,
    instances: active ? `${healthy} healthy of ${desired}` : "stopped by a person",
    scaling: ruleText(definition.scaling),
    ...(decision && { decided: decisionText(decision) }),
    ...(definition.rollout.alarms && { "tied to alarms": definition.rollout.alarms.names.join(", ") }),
    cpu: `${definition.cpu.request} to ${definition.cpu.limit} units`,
    memory: `${definition.memory.request} to ${definition.memory.limit} MiB`,
    "stop timeout": durationText(definition.stopTimeoutMs),
    "runs on": controlled ? host : `${host}, where nobody runs services: tuntas service run`,
  });
  const instances = table(report.instances, {
    instance: ({ id }) => id,
    revision: (each) => each.revision,
    port: ({ port }) => port,
    pid: ({ pid }) => pid,
    memory: ({ memoryBytes }) => mebibytes(memoryBytes),
    cpu: ({ cpuUnits }) => cpuUnits,
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
  return [head, ...figuresOf(decision), bold("Instances"), instances, bold("Deployments"), deployments].join(
    "\n",
  );
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
