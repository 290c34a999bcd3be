// What Fargate takes: a size, and health checks of a container and of a load balancer's targets; pure.
import { toMs } from "tuntas";
import { taskSize, type ServiceDefinition, type TaskSize } from "tuntas/service";
import { checkWithin, unsupported } from "./errors.ts";

type HealthCheck = ServiceDefinition["options"]["healthCheck"];

/** The smallest size of a task that holds these limits. Errors: TUNTAS_DEPLOY_UNSUPPORTED. */
export function sizeFor({ name, options: { cpu, memory } }: ServiceDefinition): TaskSize {
  const size = taskSize({ cpu, memory });
  if (size) return size;
  throw unsupported(
    `service ${name}`,
    `Fargate has at most 16384 CPU units and 122880 MiB, got limits of ${cpu.limit} and ${memory.limit}`,
  );
}

export interface ProbeTimes {
  readonly intervalSeconds: number;
  readonly timeoutSeconds: number;
  readonly retries: number;
  readonly startPeriodSeconds: number;
}

/** ECS counts seconds, and has bounds of its own. Errors: TUNTAS_DEPLOY_UNSUPPORTED. */
export function probeTimes(name: string, check: HealthCheck): ProbeTimes {
  const { interval, timeout, retries, startPeriod = "0s" } = check;
  const what = `service ${name}: healthCheck`;
  const [intervalSeconds, timeoutSeconds] = [toMs(interval) / 1000, toMs(timeout) / 1000];
  const startPeriodSeconds = toMs(startPeriod) / 1000;
  checkWithin(`${what}.interval`, intervalSeconds, { min: 5, max: 300, unit: "seconds" });
  checkWithin(`${what}.timeout`, timeoutSeconds, { min: 2, max: 60, unit: "seconds" });
  checkWithin(`${what}.startPeriod`, startPeriodSeconds, { min: 0, max: 300, unit: "seconds" });
  return { intervalSeconds, timeoutSeconds, retries, startPeriodSeconds };
}

/** A program for the image's own Node, as no image is sure to have curl. */
const nodeProgram = (text: string): string[] => ["CMD", "node", "-e", text];

const fetched = (port: number, path: string): string[] =>
  nodeProgram(
    `fetch("http://127.0.0.1:${port}${path}",{redirect:"manual"}).then(({status})=>process.exit(status<400?0:1),()=>process.exit(1))`,
  );

const connected = (port: number): string[] =>
  nodeProgram(
    `require("node:net").connect(${port},"127.0.0.1").on("connect",()=>process.exit(0)).on("error",()=>process.exit(1))`,
  );

/** How ECS asks the container itself. `path` is asked for where the load balancer asks for the declared one. */
export function containerCommand(
  name: string,
  check: HealthCheck,
  { port, path }: { readonly port: number; readonly path: string | undefined },
): string[] {
  if ("http" in check) return fetched(port, path ?? check.http);
  if ("tcp" in check) return connected(port);
  if ("command" in check) return ["CMD", ...check.command];
  throw unsupported(
    `service ${name}`,
    "ECS does not see heartbeats in the database; expected a healthCheck by http, tcp or command, got presence",
  );
}
