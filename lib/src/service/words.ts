// What people read of instances, wherever they do: why one stopped.
import type { Instance, StopReason } from "./contract.ts";

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
