// All drills, by name.
import type { Drill } from "./drill.ts";
import { kill, poison, slowDownstream } from "./queues.ts";
import { badHealth, badImage, memory } from "./services.ts";
import { storm } from "./storm.ts";

export const drills = {
  poison,
  kill,
  "slow-downstream": slowDownstream,
  "bad-image": badImage,
  "bad-health": badHealth,
  memory,
  storm,
} as const satisfies Record<string, Drill>;

export type DrillName = keyof typeof drills;
export const drillNames = Object.keys(drills) as DrillName[];
export { runDrills, type DrillReport } from "./drill.ts";
