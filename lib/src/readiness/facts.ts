// What is looked at besides the declarations: services and what an instance answers now, alarms, commands, the doctor's findings.
import { check, type Declared } from "../check/index.ts";
import { checkStates } from "../check/machines/index.ts";
import type { Finding as Examined } from "../doctor/index.ts";
import { readDurations } from "../measure/durations/index.ts";
import type { Platform } from "../platform.ts";
import type { Instance } from "../service/contract.ts";
import type { Drilled, Facts, Found, LiveService, Probed, ReadinessDefinition } from "./contract.ts";

const correlationId = "tuntas-readiness";
const patienceMs = 5000;
/** Half a year. */
const answersHoldMs = 183 * 86_400_000;

const ask = (url: string): Promise<Response | undefined> =>
  fetch(url, {
    headers: { "x-correlation-id": correlationId },
    signal: AbortSignal.timeout(patienceMs),
  }).catch(() => undefined);

async function probe({ port }: Instance, path: string): Promise<Probed> {
  const url = `http://127.0.0.1:${port}`;
  const [ready, metrics] = await Promise.all([ask(`${url}${path}`), ask(`${url}/metrics`)]);
  return {
    url,
    status: ready?.status ?? null,
    correlated: ready?.headers.get("x-correlation-id") === correlationId,
    measured: ((await metrics?.text()) ?? "").includes("tuntas_http_request_seconds"),
  };
}

/** A service's first healthy instance with a port is asked: on its own machine, where nothing answers elsewhere. */
async function liveService({ services }: Pick<Platform, "services">, name: string): Promise<LiveService> {
  const report = await services.describe(name);
  const instance = report.instances.find(({ health, port }) => health === "healthy" && port !== null);
  const { probe: by } = report.definition.healthCheck;
  const path = "http" in by ? by.http : "/readyz";
  return { report, probed: instance ? await probe(instance, path) : null };
}

/** Those that are deployed, with what one instance of each answers now. */
export async function readServices(platform: Pick<Platform, "services">): Promise<Facts["services"]> {
  const names = (await platform.services.list()).map(({ name }) => name);
  return new Map(
    await Promise.all(names.map(async (name) => [name, await liveService(platform, name)] as const)),
  );
}

async function readCommands({ commands }: Platform): Promise<Facts["commands"]> {
  const names = (await commands.list()).map(({ name }) => name);
  return new Map(await Promise.all(names.map(async (name) => [name, await commands.check(name)] as const)));
}

/** What `tuntas check` says of it; and of workflows in code what it says of machines in files. */
export const findingsOf = (declared: Declared): readonly Found[] => [
  ...check(declared).filter(({ accepted }) => accepted === null),
  ...declared.workflows.flatMap(({ name, definition, options: { accepts } }) =>
    checkStates(definition, { name, placeOf: () => undefined }).filter(({ rule }) => !accepts?.[rule]),
  ),
];

export interface Given {
  readonly declared: Declared;
  readonly answers: readonly ReadinessDefinition[];
  readonly drills: readonly Drilled[];
  readonly examined: readonly Examined[];
}

/** Changes nothing. */
export async function readFacts(platform: Platform, given: Given): Promise<Facts> {
  const [services, alarms, commands, handlers] = await Promise.all([
    readServices(platform),
    platform.alarms.list(),
    readCommands(platform),
    readDurations(platform.database),
  ]);
  const measured = new Map(handlers.map(({ handler, ...rest }) => [handler, rest]));
  const declared = { ...given.declared, measured };
  const findings = findingsOf(declared);
  const answeredSince = new Date(Date.now() - answersHoldMs).toISOString().slice(0, 10);
  return { ...given, declared, findings, services, alarms, commands, answeredSince };
}
