// The controller: one process a machine runs its services. It keeps the duty while it lives; who takes it over adopts
// the instances that still run and misses the others. Each round looks at every instance, asks `decide`, and does it.
import { mkdirSync } from "node:fs";
import { takeDuty, leaveDuty } from "../../engine/duty.ts";
import { startPeriodic } from "../../engine/periodic.ts";
import { serviceKey } from "../client.ts";
import type { Instance } from "../contract.ts";
import { decide, type Action } from "../state.ts";
import * as store from "../store/control.ts";
import { forgetOld } from "../store/events.ts";
import { dutyOf } from "../store/services.ts";
import { makeWrite, NotHolder, type ControllerOptions } from "./context.ts";
import { makeDeployments } from "./deployments.ts";
import { makeInstances } from "./instances.ts";
import { readProcesses } from "./processes.ts";
import { askRule, makeMeter } from "./scaling.ts";
import { makeScalings } from "./scalings.ts";

export type { ControllerOptions } from "./context.ts";

export interface Controller {
  /** Whether this process has the duty. */
  holds(): boolean;
  /** Stops every instance in order, and leaves the duty. */
  close(): Promise<void>;
}

const standbyMs = 1000;
const leastMs = 50;
/** While something starts or stops. */
const closeLookMs = 100;
const forgetEveryMs = 3_600_000;

export function startController(options: ControllerOptions): Controller {
  const { database, waker, log, processId, onLost, host, scaleEveryMs = 10_000 } = options;
  const duty = dutyOf(host);
  const write = makeWrite(options);
  const instances = makeInstances(options, write);
  const deployments = makeDeployments(options, write);
  const scalings = makeScalings(options, write);
  const measure = makeMeter(instances.members);
  let heldAs: string | undefined;
  let closing = false;
  let [measuredAtMs, forgottenAtMs] = [-Infinity, -Infinity];
  mkdirSync(options.outputs, { recursive: true });

  function lose(): void {
    heldAs = undefined;
    instances.forget();
  }

  async function hold(): Promise<boolean> {
    if (heldAs === processId()) return true;
    lose();
    if (!(await takeDuty(database, duty, processId()))) return false;
    heldAs = processId();
    log.info({ event: "service.controls", host }, "this process runs the services of this machine");
    return true;
  }

  async function carryOut(of: store.Controlled, action: Action): Promise<void> {
    if (action.do === "start") await instances.start(of, action.count);
    else if (action.do === "stop") await instances.stop(action.ids, action.reason);
    else if (action.do === "bake") await deployments.bake(of, action.ms);
    else if (action.do === "complete") await deployments.complete(of);
    else await deployments.fail(of, action);
  }

  async function runService(of: store.Controlled, live: readonly Instance[]): Promise<void> {
    if (closing || of.host !== host) {
      const ids = live.filter(({ state }) => state !== "stopping").map(({ id }) => id);
      if (ids.length > 0) await instances.stop(ids, closing ? "controller" : "moved");
      return;
    }
    const alarms = await deployments.watch(of);
    const view = {
      ...of,
      rollout: of.definition.rollout,
      instances: await scalings.protect(of, live, instances.members),
      alarms,
    };
    for (const action of decide(view)) await carryOut(of, action);
  }

  /** Writes down what each instance takes, and answers it. */
  async function takeMeasure(live: readonly Instance[]): Promise<store.Usage[]> {
    const usages = measure(live.filter(({ state }) => state === "running").map(({ id }) => id));
    if (usages.length > 0) await store.noteUsage(database, { duty, processId: processId() }, usages);
    return usages;
  }

  async function scale(
    of: store.Controlled,
    live: readonly Instance[],
    all: readonly store.Usage[],
  ): Promise<void> {
    if (!of.active || of.host !== host) return;
    const usages = all.filter(({ id }) => live.some((instance) => instance.id === id));
    const decision = await askRule(of, { instances: live, usages, ...options });
    if (decision !== undefined) await scalings.note(of, decision);
  }

  /** True once in so long. */
  const isDue = (sinceMs: number, everyMs: number): boolean => performance.now() - sinceMs >= everyMs;

  async function look(): Promise<number> {
    const all = await store.readLive(database, host);
    const table = await readProcesses();
    const live: Instance[] = [];
    for (const instance of all) if (await instances.tend(instance, table)) live.push(instance);
    // Read after what has ended was counted: what is decided below must know of it.
    const services = await store.readControlled(database, host);
    const measures = !closing && isDue(measuredAtMs, scaleEveryMs);
    if (measures) measuredAtMs = performance.now();
    const usages = measures ? await takeMeasure(live) : [];
    for (const of of services) {
      const own = live.filter(({ service }) => service === of.name);
      await runService(of, own);
      if (measures) await scale(of, own, usages);
    }
    if (isDue(forgottenAtMs, forgetEveryMs)) {
      forgottenAtMs = performance.now();
      await forgetOld(database);
    }
    const isMoving =
      live.length < all.length ||
      live.some(({ state, health }) => state !== "running" || health !== "healthy");
    return isMoving ? closeLookMs : Math.min(instances.pauseMs(), scaleEveryMs);
  }

  async function round(): Promise<number> {
    try {
      return (await hold()) ? await look() : standbyMs;
    } catch (cause) {
      if (!(cause instanceof NotHolder)) throw cause;
      log.warn({ host }, cause.message);
      lose();
      return standbyMs;
    }
  }

  onLost(lose);
  const periodic = startPeriodic({
    waker,
    key: serviceKey,
    round,
    leastMs,
    onError: (cause) =>
      log.warn({ cause }, "the services of this machine could not be looked at; will try again"),
  });

  /** Until nothing is left, or it belongs to another. */
  async function end(): Promise<void> {
    closing = true;
    await periodic.close();
    while (heldAs !== undefined && (await store.readLive(database, host)).length > 0) {
      await round();
      await new Promise((resolve) => setTimeout(resolve, closeLookMs));
    }
    if (heldAs !== undefined) await leaveDuty(database, duty, heldAs);
    options.announce();
  }

  let ending: Promise<void> | undefined;
  return { holds: () => heldAs !== undefined, close: () => (ending ??= end()) };
}
