// The processes of this machine's services, one by one: started, asked for their health, held to their memory, stopped
// by SIGTERM and then SIGKILL, and missed when they end. What another controller has started is adopted.
import type { ChildProcess } from "node:child_process";
import { hostname } from "node:os";
import { join } from "node:path";
import type { Instance, Revision, StopReason } from "../contract.ts";
import { forgetOutputs, outputOf, turnOutput } from "../output.ts";
import { isFailure, newHealth, nextHealth, stopStep, type HealthState } from "../state.ts";
import * as store from "../store/control.ts";
import { findRevision } from "../store/services.ts";
import { eventOf, type ControllerOptions, type Write } from "./context.ts";
import { commandOf, environmentOf } from "./launch.ts";
import { probeOnce } from "./probe.ts";
import {
  freePorts,
  readProcesses,
  signalGroup,
  startHeld,
  type Held,
  type ProcessFacts,
  type ProcessTable,
} from "./processes.ts";

/** What is known of an instance besides its row. */
interface Watched {
  readonly definition: Revision;
  /** Undefined where another process started it. */
  child: ChildProcess | undefined;
  health: HealthState;
  probedAtMs: number;
  probing: boolean;
  /** Its output could not be turned, which was said. */
  unbounded: boolean;
  /** The processes of its group, as they were last seen. */
  members: readonly ProcessFacts[];
}

export interface Instances {
  /** Looks at one, and does what is due; false once it has ended. */
  tend(instance: store.Live, table: ProcessTable): Promise<boolean>;
  start(of: store.Controlled, count: number): Promise<void>;
  stop(ids: readonly string[], reason: StopReason): Promise<void>;
  /** What of it lives. */
  members(id: string): readonly ProcessFacts[];
  /** How long until something is due. */
  pauseMs(): number;
  /** They belong to another controller now. */
  forget(): void;
}

const mebibyte = 1 << 20;
/** Before its first success an instance is asked more often, so that a start is not slower than it must be. */
const firstIntervalMs = 500;
const lookMs = 1000;
const failures: readonly StopReason[] = (["exited", "unhealthy", "memory", "start_failed"] as const).filter(
  isFailure,
);

export function makeInstances(options: ControllerOptions, write: Write): Instances {
  const { database, host, outputs, waker, log } = options;
  const watched = new Map<string, Watched>();
  const definitions = new Map<string, Revision>();

  async function definitionOf({ service, revision }: Instance): Promise<Revision> {
    const key = `${service}:${revision}`;
    const known = definitions.get(key) ?? (await findRevision(database, service, revision))!;
    definitions.set(key, known);
    return known;
  }

  function watch(instance: Instance, definition: Revision, child?: ChildProcess): Watched {
    const health = newHealth(instance.health);
    const made = {
      definition,
      child,
      health,
      probedAtMs: -Infinity,
      probing: false,
      unbounded: false,
      members: [],
    };
    watched.set(instance.id, made);
    return made;
  }

  async function adopt(instance: Instance): Promise<Watched> {
    const made = watch(instance, await definitionOf(instance));
    await write(async (_, tell) => tell(eventOf(instance, "adopted", { pid: instance.pid })));
    return made;
  }

  async function ended(instance: Instance, reason: StopReason): Promise<false> {
    const child = watched.get(instance.id)?.child;
    const exit = child ? (child.signalCode ?? String(child.exitCode)) : null;
    await write(async (tx, tell) => {
      const stopped = await store.noteStopped(tx, instance.id, { reason, exit, failing: failures });
      if (stopped) tell(eventOf(instance, "stopped", { stopReason: stopped.stopReason, exit }));
    });
    watched.delete(instance.id);
    await forgetOutputs(join(outputs, instance.service), (id) => watched.has(id));
    return false;
  }

  async function stop(ids: readonly string[], reason: StopReason): Promise<void> {
    await write(async (tx, tell) => {
      for (const each of await store.noteStopping(tx, ids, reason))
        tell(eventOf(each, "stopping", { stopReason: reason }));
    });
  }

  async function probe(instance: store.Live, of: Watched): Promise<void> {
    const { healthCheck, directory } = of.definition;
    const begunAtMs = performance.now();
    of.probing = true;
    of.probedAtMs = begunAtMs;
    const isPresent = () =>
      store.isPresent(
        database,
        hostname(),
        of.members.map(({ pid }) => pid),
      );
    const asked = {
      port: instance.port,
      directory,
      environment: environmentOf(of.definition, instance),
      isPresent,
    };
    const ok = await probeOnce(healthCheck.probe, asked, healthCheck.timeoutMs).catch(() => false);
    of.probing = false;
    const before = of.health.health;
    const atMs = performance.now();
    const ageMs = instance.nowMs - instance.startedAtMs + atMs - begunAtMs;
    of.health = nextHealth(of.health, { ok, atMs, ageMs }, healthCheck);
    const { health } = of.health;
    if (health === before) return;
    await write(async (tx, tell) => {
      if (await store.noteHealth(tx, instance.id, health)) tell(eventOf(instance, "health", { health }));
    });
  }

  const intervalOf = ({ definition, health }: Watched): number => {
    const { intervalMs } = definition.healthCheck;
    return health.health === "healthy" ? intervalMs : Math.min(intervalMs, firstIntervalMs);
  };

  async function tendRunning(instance: store.Live, of: Watched): Promise<boolean> {
    const { id, pid } = instance;
    if (!of.members.some((member) => member.pid === pid)) {
      if (of.members.length === 0) return ended(instance, of.child ? "exited" : "lost");
      await stop([id], "exited"); // What it had started is still there.
      return true;
    }
    const memoryBytes = of.members.reduce((sum, member) => sum + member.memoryBytes, 0);
    if (memoryBytes > of.definition.memory.limit * mebibyte) {
      await stop([id], "memory");
      await signal(instance, "kill");
    } else if (!of.probing && performance.now() - of.probedAtMs >= intervalOf(of))
      void probe(instance, of).catch(() => waker.wake(id));
    return true;
  }

  async function signal(instance: Instance, step: "terminate" | "kill"): Promise<void> {
    const noted = await write(async (tx, tell) => {
      const first = await store.noteSignal(tx, instance.id, step);
      if (first) tell(eventOf(instance, step === "kill" ? "killed" : "terminated"));
      return first;
    });
    if (noted) signalGroup(instance.pid!, step === "kill" ? "SIGKILL" : "SIGTERM");
  }

  async function tendStopping(instance: store.Live, of: Watched): Promise<boolean> {
    if (of.members.length === 0) return ended(instance, "person");
    const { stopTimeoutMs, rollout, portVariable } = of.definition;
    const isServed = portVariable !== null && instance.health === "healthy";
    const deregistrationDelayMs = isServed ? rollout.deregistrationDelayMs : 0;
    const at = { ...instance, stoppingAtMs: instance.stoppingAtMs! };
    const step = stopStep(at, instance.nowMs, { stopTimeoutMs, deregistrationDelayMs });
    if (step !== "wait") await signal(instance, step);
    return true;
  }

  /** Those of its group, unless the number belongs to a later process by now. */
  function membersOf({ pid, identity }: Instance, table: ProcessTable): readonly ProcessFacts[] {
    const group = pid === null ? [] : (table.get(pid) ?? []);
    return group.some((member) => member.pid === pid && member.identity !== identity) ? [] : group;
  }

  /** Whatever is wrong with its file, the service goes on. */
  function keepWithin(instance: Instance, of: Watched): void {
    const path = outputOf(outputs, instance);
    try {
      turnOutput(path);
    } catch (cause) {
      if (!of.unbounded)
        log.warn({ cause, path }, "what an instance prints cannot be kept within its bounds");
      of.unbounded = true;
    }
  }

  async function tend(instance: store.Live, table: ProcessTable): Promise<boolean> {
    // Its controller ended before it let it run.
    if (instance.pid === null) return watched.has(instance.id) || ended(instance, "lost");
    const of = watched.get(instance.id) ?? (await adopt(instance));
    of.members = membersOf(instance, table);
    keepWithin(instance, of);
    const { child } = of;
    if (of.members.length === 0 && child?.exitCode === null && child.signalCode === null) return true;
    return instance.state === "stopping" ? tendStopping(instance, of) : tendRunning(instance, of);
  }

  async function release(instance: Instance, held: Held, table: ProcessTable): Promise<void> {
    const { pid, child } = held;
    const identity = table.get(pid)?.find((member) => member.pid === pid)?.identity ?? "";
    const [{ definition }, { port }] = [watched.get(instance.id)!, instance];
    child.once("exit", () => waker.wake(instance.id));
    const noted = await write(async (tx, tell) => {
      const first = await store.noteStarted(tx, instance.id, pid, identity);
      if (first) tell(eventOf(instance, "started", { pid, port }));
      return first;
    }).catch((cause: unknown) => {
      signalGroup(pid, "SIGKILL");
      throw cause;
    });
    if (noted) held.release();
    else signalGroup(pid, "SIGKILL");
    watch({ ...instance, pid }, definition, child);
  }

  async function start(of: store.Controlled, count: number): Promise<void> {
    const { definition, name, deployment } = of;
    const ports = definition.portVariable === null ? Array<null>(count).fill(null) : await freePorts(count);
    const made = await write(async (tx, tell) => {
      const detail = { revision: deployment.revision, count };
      tell({ service: name, event: "batch", deploymentId: deployment.id, detail });
      return store.insertInstances(tx, of, host, ports);
    });
    const begun: [Instance, Held][] = [];
    for (const instance of made) {
      watch(instance, definition);
      const held = await startHeld(commandOf(definition, instance, outputs));
      if (held) begun.push([instance, held]);
      else await ended(instance, "start_failed");
    }
    const table = await readProcesses();
    for (const [instance, held] of begun) await release(instance, held, table);
  }

  return {
    tend,
    start,
    stop,
    members: (id) => watched.get(id)?.members ?? [],
    pauseMs: () => Math.min(lookMs, ...[...watched.values()].map((of) => intervalOf(of))),
    forget: () => watched.clear(),
  };
}
