// The door of the schedule room: `tuntas/schedule`.
export * from "./contract.ts";
export type { Schedules } from "./client.ts";
export { schedule } from "./declaration.ts";
export { scheduleMetrics, scheduleSignals } from "./signals.ts";
