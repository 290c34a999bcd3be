// What instances take, and what scaling rules are asked with: the queue and what stands behind it, or the share of the CPU.
import type { Instance, ScalingDecision, ScalingFigures, ScalingRule } from "../contract.ts";
import type { FiguresOf, RequestsOf } from "../scaling/figures.ts";
import { decideScaling } from "../scaling/state.ts";
import { averageCpu } from "../state.ts";
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
  readonly figuresOf: FiguresOf;
  readonly requestsOf: RequestsOf;
}

const isHealthy = ({ state, health }: Instance): boolean => state === "running" && health === "healthy";

async function figuresFor(
  target: ScalingRule["target"],
  { name, nowMs, definition }: Controlled,
  { instances, usages, figuresOf, requestsOf }: Asked,
): Promise<ScalingFigures | undefined> {
  if (target === null) return undefined;
  const at = { nowMs, running: instances.filter(isHealthy).length };
  if ("queue" in target) return figuresOf(target, at);
  const cpuPercent = averageCpu(definition.cpu.limit, usages);
  if (cpuPercent === undefined || target.requestsPerInstance === undefined)
    return cpuPercent === undefined ? undefined : { cpuPercent };
  return { cpuPercent, requestsPerInstance: await requestsOf(name, at) };
}

/** What the rule comes to; undefined where there is none, or nothing to ask it with yet. */
export async function askRule(of: Controlled, asked: Asked): Promise<ScalingDecision | undefined> {
  const { desired, nowMs, scaledAtMs, deployment, definition } = of;
  const figures = await figuresFor(definition.scaling.target, of, asked);
  if (figures === undefined) return undefined;
  const running = asked.instances.filter(isHealthy).length;
  const deploying = deployment.state === "in_progress";
  return decideScaling(definition.scaling, { nowMs, desired, running, scaledAtMs, deploying }, figures);
}
