// How rows are read: the columns of each thing, as its type names them.
import { ms } from "../../pg/instant.ts";

export const instanceColumns = `i.id::text, i.service, i.deployment_id::text as "deploymentId", i.revision, i.host, i.state, i.health, i.port, i.pid,
  i.identity, ${ms("i.started_at")} as "startedAtMs", ${ms("i.stopping_at")} as "stoppingAtMs", ${ms("i.terminated_at")} as "terminatedAtMs",
  ${ms("i.killed_at")} as "killedAtMs", ${ms("i.stopped_at")} as "stoppedAtMs", i.stop_reason as "stopReason", i.exit,
  i.memory_bytes::float8 as "memoryBytes", i.cpu_units as "cpuUnits", ${ms("i.measured_at")} as "measuredAtMs"`;

export const deploymentColumns = `d.id::text, d.service, d.revision, d.state, d.rollback_of::text as "rollbackOf", d.failures, d.actor, d.reason,
  ${ms("d.started_at")} as "startedAtMs", ${ms("d.steady_at")} as "steadyAtMs", ${ms("d.ended_at")} as "endedAtMs"`;
