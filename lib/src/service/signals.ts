import { metrics, signals } from "../engine/signals.ts";

const of = { service: "the service" };
const deployment = { ...of, deploymentId: "the deployment", revision: "the revision" };
const instance = { ...of, deploymentId: "the deployment", instanceId: "the instance" };

/** What a scaling rule was asked with; see `QueueFigures`, whose names these are. */
const seen = {
  cap: "the most that there may be",
  running: "healthy instances",
  backlog: "messages that wait",
  backlogPerInstance: "for each instance that runs",
  oldestAgeSeconds: "age of the message at the front",
  producedPerMinute: "messages that came",
  processedPerMinute: "messages that were ended",
  processingMs: "how long an attempt took",
  downstreamMs: "how long a call of the downstream took",
  deadLetterGrowth: "messages that came to wait for a person, in five minutes",
  retryShare: "attempts that will be made again",
  cpuPercent: "instead of these, for a rule by CPU: percent of the limit",
  requestsPerInstance: "with it, for a rule by requests: those of the last minute for each instance",
};

/** What happens to services: each is an event of the service's log too, of the same name. */
export const serviceSignals = signals({
  "service.deploying": {
    meaning: "A deployment began.",
    fields: { ...deployment, actor: "who asked for it" },
  },
  "service.batch": {
    meaning: "Instances were started together; the next batch waits until all of them are healthy.",
    fields: { ...deployment, count: "how many" },
  },
  "service.started": {
    meaning: "A process was started.",
    fields: { ...instance, pid: "its process id", port: "its port" },
  },
  "service.health": {
    meaning: "What an instance's health check says has changed.",
    fields: { ...instance, health: "healthy or unhealthy" },
  },
  "service.stopping": {
    meaning: "An instance gets nothing new and is going to be stopped.",
    fields: { ...instance, stopReason: "why" },
  },
  "service.terminated": { meaning: "An instance got SIGTERM.", fields: instance },
  "service.killed": {
    meaning: "An instance got SIGKILL: it had not ended by its stopTimeout.",
    fields: instance,
  },
  "service.stopped": {
    meaning: "An instance has ended.",
    fields: { ...instance, stopReason: "why", exit: "its exit status or signal, where it is known" },
  },
  "service.adopted": {
    meaning: "A controller took over an instance that another had started.",
    fields: instance,
  },
  "service.breaker": {
    meaning: "A deployment failed: too many of its instances did, one after another.",
    fields: { ...deployment, failures: "how many", threshold: "how many were too many" },
  },
  "service.alarm": {
    meaning: "A deployment failed: an alarm that it is tied to went off while it was under way.",
    fields: { ...deployment, alarm: "the alarm, and of what", reason: "what the alarm says" },
  },
  "service.baking": {
    meaning: "All is healthy; the deployment is over once its alarms have stayed quiet for the bake time.",
    fields: { ...deployment, seconds: "how long" },
  },
  "service.rollback": {
    meaning: "The last completed revision is deployed again.",
    fields: { ...deployment, rollbackOf: "the deployment that failed" },
  },
  "service.completed": {
    meaning: "A deployment is over: only its revision runs, as many as are desired, all healthy.",
    fields: deployment,
  },
  "service.scaled": {
    meaning: "There are to be more or fewer instances.",
    fields: {
      ...of,
      from: "how many before",
      to: "how many",
      by: "the rule, or who",
      reason: "why, where it was the rule",
      ...seen,
    },
  },
  "service.held": {
    meaning: "The scaling rule asks for more instances, and something forbids to add them.",
    fields: { ...of, reason: "what is against it", ...seen },
  },
});

type EntryName = keyof typeof serviceSignals.entries;
export type ServiceEventName = EntryName extends `service.${infer Name}` ? Name : never;

export const serviceMetrics = metrics({
  tuntas_service_instances: {
    kind: "gauge",
    meaning: "Instances of a service: desired, running, healthy.",
    labels: ["service", "state"],
    kept: true,
  },
  tuntas_service_deployments_total: {
    kind: "counter",
    meaning: "Deployments by how they ended.",
    labels: ["service", "state"],
    from: [
      { signal: "service.completed", fixed: { state: "completed" } },
      { signal: "service.breaker", fixed: { state: "failed" } },
      { signal: "service.alarm", fixed: { state: "failed" } },
    ],
    kept: true,
  },
  tuntas_service_stops_total: {
    kind: "counter",
    meaning: "Instances that ended, by why.",
    labels: ["service", "reason"],
    from: [{ signal: "service.stopped", fields: { reason: "stopReason" } }],
    kept: true,
  },
});
