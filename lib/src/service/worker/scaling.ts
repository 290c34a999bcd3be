// What instances take, and what scaling rules are asked with: the messages that wait, or the share of the CPU limit.
import type { Instance } from "../contract.ts";
import { averageCpu, scaledCount } from "../state.ts";
import type { Controlled, Usage } from "../store/control.ts";
import type { ProcessFacts } from "./processes.ts";

const unitsPerProcessor = 1024;

interface CpuMark {
  readonly seconds: number;
  readonly atMs: number;
}

const sum = (members: readonly ProcessFacts[], of: "memoryBytes" | "cpuSeconds"): number =>
  members.reduce((total, member) => total + member[of], 0);

/** Measures instances; CPU needs two looks. */
export function makeMeter(membersOf: (id: string) => readonly ProcessFacts[]) {
  let marks = new Map<string, CpuMark>();

  return (ids: readonly string[]): Usage[] => {
    const before = marks;
    marks = new Map();
    return ids.map((id) => {
      const members = membersOf(id);
      const now = { seconds: sum(members, "cpuSeconds"), atMs: performance.now() };
      const then = before.get(id);
      marks.set(id, now);
      const processors = then && ((now.seconds - then.seconds) * 1000) / (now.atMs - then.atMs);
      return {
        id,
        memoryBytes: sum(members, "memoryBytes"),
        cpuUnits: processors === undefined ? null : Math.max(0, Math.round(processors * unitsPerProcessor)),
      };
    });
  };
}

interface Asked {
  readonly instances: readonly Instance[];
  /** What these instances take. */
  readonly usages: readonly Usage[];
  readonly backlogOf: (queue: string) => Promise<number>;
}

/** How many there are to be, and the figure that says so; undefined while there is none. */
export async function askRule(of: Controlled, { instances, usages, backlogOf }: Asked) {
  const { desired, nowMs, scaledAtMs, deployment, definition } = of;
  const { scaling, cpu } = definition;
  const { target } = scaling;
  if (target === null) return undefined;
  const figure = "queue" in target ? await backlogOf(target.queue) : averageCpu(cpu.limit, usages);
  if (figure === undefined) return undefined;
  const running = instances.filter(({ state }) => state === "running").length;
  const deploying = deployment.state === "in_progress";
  return {
    figure,
    count: scaledCount(scaling, { nowMs, desired, running, figure, scaledAtMs, deploying }),
  };
}
