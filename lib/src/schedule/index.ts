// The door of the schedule room: `tuntas/schedule`.
export * from "./contract.ts";
export type { Schedules } from "./client.ts";
export type { Arrangements } from "./arrangement/client.ts";
export type { Groups } from "./arrangement/groups.ts";
export { defaultGroup, groupArn, nameOf, scheduleArn, targetArn } from "./place.ts";
export { longestPauseMs, schedule } from "./declaration.ts";
export { scheduleMetrics, scheduleSignals } from "./signals.ts";
