// Declaring services, beside the work that they do. What a service must say is checked here as well as by the compiler,
// so that an untyped declaration is refused too, with everything that it leaves out at once.
import { inspect } from "node:util";
import { dirname } from "node:path";
import { toMs } from "../core/duration.ts";
import { declaring, placeOfCaller } from "../core/place.ts";
import { unknownOptions, type NamesOf } from "../core/options.ts";
import { got, wrongName, type Finding } from "../engine/findings.ts";
import { isStorable } from "../core/text.ts";
import type {
  AlarmTimes,
  Bounds,
  DeploymentAlarms,
  HealthCheck,
  Revision,
  Rollout,
  ServiceDefinition,
  ServiceOptions,
} from "./contract.ts";
import { serviceErrors, serviceKinds } from "./contract.ts";
import { isWhole, wrongTime, type Given } from "./finding.ts";
import { ruleOf, scalingNames, wrongCap, wrongScaling } from "./scaling/declaration.ts";
import { roomOf } from "./state.ts";

const nameForm = /^[a-zA-Z0-9][a-zA-Z0-9_-]{0,254}$/;
export const stopTimeoutMaxMs = 120_000;

function wrongBounds(field: string, unit: string, value: Given<Bounds>): Finding {
  const { request, limit } = value ?? {};
  const fits = isWhole(request, 1, 1 << 24) && isWhole(limit, 1, 1 << 24) && request <= limit;
  return (
    !fits && `${field}: expected { request, limit } in ${unit}, the request at most the limit, ${got(value)}`
  );
}

function wrongRun(value: Given<{ module: string; command: readonly string[] }>): Finding {
  const command = value?.command;
  const fits = Array.isArray(command)
    ? command.length > 0 && command.every((word) => typeof word === "string" && isStorable(word))
    : typeof value?.module === "string" && value.module !== "";
  return !fits && `run: expected { module: "./api.js" } or { command: ["./api"] }, ${got(value)}`;
}

const probes = ["http", "tcp", "command", "presence"];

function* wrongHealthCheck(value: Given<HealthCheck>, hasPort: boolean): Generator<Finding> {
  const asked = Object.keys(value ?? {}).filter((key) => probes.includes(key));
  if (asked.length !== 1)
    return yield `healthCheck: expected one of { http: "/readyz" }, { tcp: true }, { command: […] }, { presence: true }, with interval, timeout and retries, ${got(value)}`;
  yield (
    !hasPort &&
    ["http", "tcp"].includes(asked[0]!) &&
    `healthCheck: ${asked[0]} needs a port; declare port: { variable: "PORT" }`
  );
  yield wrongTime("healthCheck.interval", value!.interval, [50, 300_000]);
  yield wrongTime("healthCheck.timeout", value!.timeout, [50, 60_000]);
  yield !isWhole(value!.retries, 1, 10) && `healthCheck.retries: expected 1 to 10, ${got(value!.retries)}`;
  if (value!.startPeriod !== undefined)
    yield wrongTime("healthCheck.startPeriod", value!.startPeriod, [0, 300_000]);
}

function* wrongAlarms(value: Given<DeploymentAlarms>): Generator<Finding> {
  const { names, rollback, bakeTime } = value ?? {};
  const fits =
    Array.isArray(names) && names.length > 0 && names.every((each) => alarmOf(each as string) !== undefined);
  yield !fits && `rollout.alarms.names: expected one or more alarms, or names of shipped ones, ${got(names)}`;
  yield typeof rollback !== "boolean" && `rollout.alarms.rollback: expected true or false, ${got(rollback)}`;
  if (bakeTime !== undefined) yield wrongTime("rollout.alarms.bakeTime", bakeTime, [0, 86_400_000]);
}

function* wrongRollout(value: Given<Rollout>): Generator<Finding> {
  const { minimumHealthyPercent: least, maximumPercent: most, circuitBreaker } = value ?? {};
  yield !isWhole(least, 0, 100) && `rollout.minimumHealthyPercent: expected 0 to 100, ${got(least)}`;
  yield !isWhole(most, 100, 200) && `rollout.maximumPercent: expected 100 to 200, ${got(most)}`;
  yield (
    typeof (circuitBreaker as { rollback?: unknown })?.rollback !== "boolean" &&
    circuitBreaker !== "off" &&
    `rollout.circuitBreaker: expected { rollback: true }, { rollback: false } or "off", ${got(circuitBreaker)}`
  );
  if (value?.alarms !== undefined) yield* wrongAlarms(value.alarms as Given<DeploymentAlarms>);
  for (const field of ["healthCheckGracePeriod", "deregistrationDelay"] as const)
    if (value?.[field] !== undefined) yield wrongTime(`rollout.${field}`, value[field], [0, 3_600_000]);
}

/** What the alarm is called; undefined where it is none. */
function alarmOf(alarm: DeploymentAlarms["names"][number]): string | undefined {
  const name: unknown = typeof alarm === "string" ? alarm : alarm?.name;
  return typeof name === "string" && name !== "" ? name : undefined;
}

function alarmTimes({ names, rollback, bakeTime }: DeploymentAlarms): AlarmTimes {
  const bakeMs = bakeTime === undefined ? null : toMs(bakeTime);
  return { names: names.map((each) => alarmOf(each)!), rollback, bakeMs };
}

/** A roll-out that can neither start nor stop anything stands still for ever. */
function wrongRoom({ scaling, rollout }: ServiceOptions): Finding {
  const count = Math.max(1, "fixed" in scaling ? scaling.fixed : scaling.min);
  const { most, least } = roomOf(rollout, count);
  return (
    most <= count &&
    least >= count &&
    `rollout: with ${count} desired it may run ${most} and must keep ${least}, so that no batch could begin; raise maximumPercent or lower minimumHealthyPercent`
  );
}

const boundNames = { request: true, limit: true } as const;
const optionNames: NamesOf<ServiceOptions> = {
  kind: true,
  run: { module: true, args: true, command: true },
  environment: true,
  version: true,
  port: { variable: true },
  cpu: boundNames,
  memory: boundNames,
  connections: true,
  stopTimeout: true,
  healthCheck: {
    http: true,
    tcp: true,
    command: true,
    presence: true,
    interval: true,
    timeout: true,
    retries: true,
    startPeriod: true,
  },
  rollout: {
    minimumHealthyPercent: true,
    maximumPercent: true,
    circuitBreaker: { rollback: true },
    alarms: { names: true, rollback: true, bakeTime: true },
    healthCheckGracePeriod: true,
    deregistrationDelay: true,
  },
  scaling: scalingNames,
};

function* findings(name: string, options: ServiceOptions): Generator<Finding> {
  yield* unknownOptions(options, optionNames);
  const { kind, port, environment = {} } = options;
  yield wrongName(name, nameForm, 'up to 255 letters, digits, "-" and "_"');
  yield !serviceKinds.includes(kind) && `kind: expected one of ${serviceKinds.join(", ")}, ${got(kind)}`;
  yield wrongRun(options.run);
  yield (
    port !== undefined &&
    !/^\w+$/.test(port?.variable ?? "") &&
    `port: expected { variable: "PORT" }, ${got(port)}`
  );
  yield wrongBounds("cpu", "CPU units (1024 are one processor)", options.cpu);
  yield wrongBounds("memory", "MiB", options.memory);
  yield (
    options.connections !== undefined &&
    !isWhole(options.connections, 0, 1 << 16) &&
    `connections: expected how many an instance may hold, 0 for none, ${got(options.connections)}`
  );
  yield wrongTime("stopTimeout", options.stopTimeout, [0, stopTimeoutMaxMs]);
  yield* wrongHealthCheck(options.healthCheck, port !== undefined);
  yield* wrongRollout(options.rollout);
  yield* wrongScaling(options.scaling);
  yield Object.values(environment).some((value) => typeof value !== "string") && "environment: expected text";
  yield !isStorable(inspect(options)) && "expected text without NUL or lone surrogates";
}

function declareService(name: string, options: ServiceOptions): ServiceDefinition {
  const found = [...findings(name, options ?? {})].filter(Boolean);
  if (found.length === 0) found.push(...[wrongRoom(options), wrongCap(options.scaling)].filter(Boolean));
  if (found.length > 0)
    throw serviceErrors.error(
      "TUNTAS_SERVICE_OPTIONS",
      `service ${JSON.stringify(name)}: ${found.join("; ")}`,
    );
  return { kind: "service", name, options, place: placeOfCaller() };
}

/** Declares a service. Errors: TUNTAS_SERVICE_OPTIONS, which names everything that is missing. */
export const service = declaring(declareService);

/** The definition as it is stored: times in ms, and the folder in which it runs. */
export function revisionOf({ options, place }: ServiceDefinition): Revision {
  const { healthCheck, rollout, port } = options;
  const { interval, timeout, retries, startPeriod = "0s", ...probe } = healthCheck;
  const { healthCheckGracePeriod = "0s", deregistrationDelay = port ? "1s" : "0s", ...rest } = rollout;
  return {
    kind: options.kind,
    run: options.run,
    directory: place === undefined ? process.cwd() : dirname(place.replace(/:\d+$/, "")),
    environment: options.environment ?? {},
    version: options.version ?? null,
    portVariable: port?.variable ?? null,
    cpu: options.cpu,
    memory: options.memory,
    ...(options.connections !== undefined && { connections: options.connections }),
    stopTimeoutMs: toMs(options.stopTimeout),
    healthCheck: {
      probe,
      intervalMs: toMs(interval),
      timeoutMs: toMs(timeout),
      retries,
      graceMs: Math.max(toMs(startPeriod), toMs(healthCheckGracePeriod)),
    },
    rollout: {
      minimumHealthyPercent: rest.minimumHealthyPercent,
      maximumPercent: rest.maximumPercent,
      circuitBreaker: rest.circuitBreaker === "off" ? null : rest.circuitBreaker,
      ...(rest.alarms && { alarms: alarmTimes(rest.alarms) }),
      deregistrationDelayMs: toMs(deregistrationDelay),
    },
    scaling: ruleOf(options.scaling),
  };
}
