// Machines of their own with a controller each, and a web service to run there, for tests with real processes.
import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll } from "vitest";
import { testPlatform, type TestPlatform } from "../testing/index.ts";
import {
  runServices,
  service,
  type Controller,
  type Deployment,
  type Instance,
  type ServiceDefinition,
  type ServiceEvent,
  type ServiceOptions,
} from "./index.ts";
import { readProcesses, signalGroup } from "./worker/processes.ts";

export const fixture = (name: string) => fileURLToPath(new URL(name, import.meta.url));
export const ada = { actor: "ada" };
export const newName = (): string => `api-${randomUUID().slice(0, 8)}`;

interface Wish extends Partial<ServiceOptions> {
  readonly count?: number;
  readonly misbehaviour?: string;
}

/** A web service with one thing changed. */
export function web(
  name: string,
  { count = 1, misbehaviour = "", ...options }: Wish = {},
): ServiceDefinition {
  return service(name, {
    kind: "rest",
    run: { module: fixture("instance.fixture.mjs") },
    environment: { VERSION: options.version ?? "1", MISBEHAVIOUR: misbehaviour },
    port: { variable: "PORT" },
    cpu: { request: 128, limit: 1024 },
    memory: { request: 64, limit: 512 },
    // As much time as there may be: one that is only slow, on a busy machine, has done nothing wrong.
    stopTimeout: "120s",
    healthCheck: { http: "/readyz", interval: "500ms", timeout: "60s", retries: 3, startPeriod: "300s" },
    rollout: {
      minimumHealthyPercent: 100,
      maximumPercent: 200,
      circuitBreaker: { rollback: true },
      deregistrationDelay: "200ms",
    },
    scaling: { fixed: count, because: "a test" },
    ...options,
  });
}

export const names = (events: readonly ServiceEvent[]): string[] => events.map(({ event }) => event);

/** What has ended and only waits to be reaped lives no more. */
export const isAlive = async (pid: number): Promise<boolean> =>
  [...(await readProcesses()).values()].flat().some((facts) => facts.pid === pid);

export interface Stage {
  readonly kit: TestPlatform;
  /** Closed after each test. */
  readonly controllers: Controller[];
  /** Killed after all. */
  readonly children: ChildProcess[];
  readonly outputs: string;
  /** A controller of a machine of its own; answers the machine's name. */
  control(host?: string): string;
  /** Deploys, and waits for the end. */
  deploy(of: ServiceDefinition, host: string): Promise<Deployment>;
  running(name: string): Promise<readonly Instance[]>;
  logOf(name: string): Promise<ServiceEvent[]>;
}

/** For the tests of one file. */
export function openStage(): Stage {
  let kit: TestPlatform;
  const controllers: Controller[] = [];
  const children: ChildProcess[] = [];
  const outputs = mkdtempSync(join(tmpdir(), "tuntas-services-"));
  const running = async (name: string) =>
    (await kit.platform.services.describe(name)).instances.filter(({ state }) => state === "running");
  beforeAll(async () => void (kit = await testPlatform()));
  afterEach(async () => {
    for (const controller of controllers.splice(0)) await controller.close();
  });
  afterAll(async () => {
    for (const child of children) child.kill("SIGKILL");
    for (const { name } of await kit.platform.services.list())
      for (const { pid } of await running(name)) if (pid !== null) signalGroup(pid, "SIGKILL");
    await kit[Symbol.asyncDispose]();
    rmSync(outputs, { recursive: true, force: true, maxRetries: 20 });
  });
  return {
    get kit() {
      return kit;
    },
    controllers,
    children,
    outputs,
    running,
    control(host = `machine-${randomUUID()}`) {
      controllers.push(runServices(kit.platform, { host, outputs, scaleEveryMs: 200 }));
      return host;
    },
    async deploy(of, host) {
      const { services } = kit.platform;
      const { deployment } = await services.deploy(of, { ...ada, host });
      return services.settled(deployment.id);
    },
    logOf: (name) => kit.platform.services.log(name, { limit: 1000 }),
  };
}
