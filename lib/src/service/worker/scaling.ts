// What scaling rules are asked with: the messages that wait, or what the instances take of their CPU limit.
import type { Instance } from "../contract.ts";
import { scaledCount } from "../state.ts";
import type { Controlled } from "../store/control.ts";
import type { ProcessFacts } from "./processes.ts";

const unitsPerProcessor = 1024;

interface CpuMark {
  readonly seconds: number;
  readonly atMs: number;
}

export interface Scaler {
  /** How many there are to be. */
  wanted(of: Controlled, instances: readonly Instance[]): Promise<number>;
}

export function makeScaler(
  backlogOf: (queue: string) => Promise<number>,
  members: (id: string) => readonly ProcessFacts[],
): Scaler {
  const marks = new Map<string, CpuMark>();

  /** Percent of its limit since it was asked before; undefined the first time. */
  function cpuPercent(id: string, limit: number): number | undefined {
    const seconds = members(id).reduce((sum, member) => sum + member.cpuSeconds, 0);
    const [before, now] = [marks.get(id), { seconds, atMs: performance.now() }];
    marks.set(id, now);
    if (!before) return undefined;
    const processors = ((now.seconds - before.seconds) * 1000) / (now.atMs - before.atMs);
    return (processors / (limit / unitsPerProcessor)) * 100;
  }

  function averageCpu({ definition }: Controlled, instances: readonly Instance[]): number | undefined {
    const all = instances.flatMap(({ id }) => cpuPercent(id, definition.cpu.limit) ?? []);
    return all.length === 0 ? undefined : all.reduce((sum, each) => sum + each, 0) / all.length;
  }

  return {
    async wanted(of, instances) {
      const { desired, nowMs, scaledAtMs, deployment } = of;
      const { scaling } = of.definition;
      const { target } = scaling;
      const running = instances.filter(({ state }) => state === "running");
      const figure =
        target && "queue" in target ? await backlogOf(target.queue) : target ? averageCpu(of, running) : 0;
      if (figure === undefined) return desired;
      const deploying = deployment.state === "in_progress";
      return scaledCount(scaling, { nowMs, desired, running: running.length, figure, scaledAtMs, deploying });
    },
  };
}
