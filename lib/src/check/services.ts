// Services: those declared in code say all that they must, or do not load; documents of ECS may be silent. And the time
// that a stopping instance gets, against the work that it does.
import { shippedAlarms } from "../alarm/index.ts";
import { toMs } from "../core/duration.ts";
import type { Declared, JsonDocument, Sighting } from "./contract.ts";
import type { RuleId } from "./rules.ts";
import { inWords } from "./words.ts";

interface Container {
  readonly name?: string;
  readonly essential?: boolean;
  readonly cpu?: number;
  readonly memory?: number;
  readonly memoryReservation?: number;
  readonly healthCheck?: object;
}

/** A task definition, a service, or what Application Auto Scaling registers: told apart by what each must have. */
interface EcsDocument {
  readonly family?: string;
  readonly cpu?: string;
  readonly memory?: string;
  readonly containerDefinitions?: readonly Container[];
  readonly serviceName?: string;
  readonly deploymentConfiguration?: {
    readonly deploymentCircuitBreaker?: { readonly enable?: boolean };
    readonly alarms?: { readonly alarmNames?: readonly string[]; readonly enable?: boolean };
  };
  readonly ScalableDimension?: string;
  readonly ResourceId?: string;
}

interface Parsed extends Omit<JsonDocument, "text"> {
  readonly of: EcsDocument;
}

function parse({ name, place, text }: JsonDocument): Parsed[] {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === "object" ? [{ name, place, of: value }] : [];
  } catch {
    return []; // A document that is no JSON is the machine that it was meant to be.
  }
}

/** Whether the document is one of ECS, and no state machine. */
export const isOfEcs = (document: JsonDocument): boolean =>
  parse(document).some(
    ({ of }) =>
      Array.isArray(of.containerDefinitions) ||
      typeof of.serviceName === "string" ||
      of.ScalableDimension === "ecs:service:DesiredCount",
  );

function missingOf(task: EcsDocument, container: Container): string[] {
  const { cpu, memory, memoryReservation } = container;
  return [
    ...(cpu === undefined && task.cpu === undefined ? ["cpu"] : []),
    ...(memory === undefined && task.memory === undefined ? ["memory (the limit)"] : []),
    ...(memoryReservation === undefined && memory === undefined ? ["memoryReservation (the request)"] : []),
  ];
}

function ofTask({ name, place, of }: Parsed): Sighting[] {
  const family = of.family ?? name;
  return (of.containerDefinitions ?? [])
    .filter(({ essential = true }) => essential)
    .flatMap((container) => {
      const said = `task definition ${family}: container ${container.name ?? "without a name"}`;
      const missing = missingOf(of, container);
      const found: [RuleId, string][] = [];
      if (missing.length > 0)
        found.push(["service-without-limits", `${said} has no ${missing.join(", no ")}`]);
      if (!container.healthCheck) found.push(["service-without-health-check", `${said} has no healthCheck`]);
      return found.map(([rule, message]) => ({ rule, name: family, place, message }));
    });
}

function ofService({ place, of }: Parsed, all: readonly Parsed[]): Sighting[] {
  const { serviceName: name, deploymentConfiguration } = of;
  if (name === undefined) return [];
  const found: [RuleId, string][] = [];
  if (!all.some((each) => each.of.ResourceId?.split("/").at(-1) === name))
    found.push(["service-without-scaling", `service ${name}: no file registers it as a scalable target`]);
  if (deploymentConfiguration?.deploymentCircuitBreaker?.enable !== true)
    found.push(["service-without-breaker", `service ${name}: deploymentCircuitBreaker is not enabled`]);
  const { enable, alarmNames = [] } = deploymentConfiguration?.alarms ?? {};
  if (enable !== true || alarmNames.length === 0)
    found.push([
      "service-without-alarms",
      `service ${name}: its alarms ${alarmNames.length > 0 ? "are not enabled" : "name none"}`,
    ]);
  return found.map(([rule, message]) => ({ rule, name, place, message }));
}

/** The queue that an instance works on is the one that it is scaled by. */
function stopTooShort({ services, workers, timings }: Declared): Sighting[] {
  return services.flatMap(({ name, place, options: { scaling, stopTimeout } }): Sighting[] => {
    if ("fixed" in scaling || !("queue" in scaling.target)) return [];
    const { queue } = scaling.target;
    const of = typeof queue === "string" ? queue : queue.name;
    const p99 = timings.find((timing) => timing.name === of)?.p99;
    const work = p99 ?? workers.find((worker) => worker.queue.name === of)?.options.timeout;
    if (work === undefined || toMs(work) <= toMs(stopTimeout)) return [];
    const takes = p99 === undefined ? "may take" : "takes, one of a hundred,";
    const message = `${name}: its stopTimeout is ${inWords(toMs(stopTimeout))}, and an attempt of ${of} ${takes} ${inWords(toMs(work))}`;
    const severity = p99 === undefined ? ({ severity: "advice" } as const) : {};
    return [{ rule: "drain-too-short", name, place, message, ...severity }];
  });
}

/** What is declared in code names its alarms itself; they are declared with it, or shipped. */
function alarmsOf({ services, alarms }: Declared): Sighting[] {
  const known = new Set([...shippedAlarms, ...alarms].map(({ name }) => name));
  return services.flatMap(({ name, place, options: { rollout } }): Sighting[] => {
    const named = rollout.alarms?.names.map((each) => (typeof each === "string" ? each : each.name)) ?? [];
    if (named.length === 0) {
      const message = `${name}: rollout.alarms names none`;
      return [{ rule: "service-without-alarms", name, place, message, severity: "advice" }];
    }
    const unknown = named.filter((each) => !known.has(each));
    const message = `${name}: nobody declares ${unknown.join(", ")}`;
    return unknown.length > 0 ? [{ rule: "service-alarm-unknown", name, place, message }] : [];
  });
}

/** Low CPU with a high backlog is a blocked downstream, and no reason for fewer. */
const byCpu = ({ services }: Declared): Sighting[] =>
  services.flatMap(({ name, place, options: { kind, scaling } }): Sighting[] => {
    if (kind !== "consumer-group" || "fixed" in scaling || !("cpuPercent" in scaling.target)) return [];
    const message = `${name}: a consumer-group that follows ${scaling.target.cpuPercent} % of the CPU limit`;
    return [{ rule: "worker-scaled-by-cpu", name, place, message }];
  });

/** What services have reserved of a provider, together, against what all processes may call it. */
function oversubscribed({ services, providers }: Declared): Sighting[] {
  const reserved = services.flatMap(({ name, options: { scaling } }) => {
    if ("fixed" in scaling || !("queue" in scaling.target) || scaling.target.downstream === "none") return [];
    const { name: of, safePerSecond } = scaling.target.downstream;
    return [{ service: name, of, safePerSecond }];
  });
  return providers.flatMap(({ options: { name, callsPerSecond = Infinity } }): Sighting[] => {
    const own = reserved.filter(({ of }) => of === name);
    const sum = own.reduce((total, { safePerSecond }) => total + safePerSecond, 0);
    if (sum <= callsPerSecond) return [];
    const parts = own.map(({ service, safePerSecond }) => `${service} ${safePerSecond}`).join(", ");
    const message = `${name}: ${sum} calls a second are reserved (${parts}), and its provider takes ${callsPerSecond}`;
    return [{ rule: "downstream-oversubscribed", name, place: undefined, message }];
  });
}

export function checkServices(declared: Declared): Sighting[] {
  const all = declared.ecs.flatMap(parse);
  return [
    ...all.flatMap((each) => [...ofTask(each), ...ofService(each, all)]),
    ...stopTooShort(declared),
    ...alarmsOf(declared),
    ...byCpu(declared),
    ...oversubscribed(declared),
  ];
}
