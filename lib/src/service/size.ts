// What sizes Fargate sells: what a service may take becomes the smallest of them that holds it; pure.
import type { Bounds } from "./contract.ts";

/** From so much memory on, to so much, in steps of MiB, for these CPU units. Source: "Task CPU and memory" (Amazon ECS). */
const sizes: readonly (readonly [cpu: number, from: number, to: number, step: number])[] = [
  [256, 512, 2048, 512],
  [512, 1024, 4096, 1024],
  [1024, 2048, 8192, 1024],
  [2048, 4096, 16_384, 1024],
  [4096, 8192, 30_720, 1024],
  [8192, 16_384, 61_440, 4096],
  [16_384, 32_768, 122_880, 8192],
];

export interface TaskSize {
  /** CPU units; 1024 are one processor. */
  readonly cpu: number;
  readonly memoryMiB: number;
}

const isAllowed = (cpu: number, memory: number): boolean =>
  // 256 units have 512, 1024 and 2048 MiB.
  cpu !== 256 || memory !== 1536;

/** The smallest size of a task that holds these limits; undefined where none does. */
export function taskSize({
  cpu,
  memory,
}: {
  readonly cpu: Pick<Bounds, "limit">;
  readonly memory: Pick<Bounds, "limit">;
}): TaskSize | undefined {
  for (const [units, from, to, step] of sizes) {
    if (units < cpu.limit || to < memory.limit) continue;
    const rounded = from + Math.max(0, Math.ceil((memory.limit - from) / step)) * step;
    return { cpu: units, memoryMiB: isAllowed(units, rounded) ? rounded : rounded + step };
  }
  return undefined;
}
