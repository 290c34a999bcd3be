// The door of backfills, as `tuntas/batch` shows it.
export * from "./contract.ts";
export type { Backfills } from "./client.ts";
export { backfill } from "./declaration.ts";
export { backfillMetrics, backfillSignals } from "./signals.ts";
export { runResult } from "./result.ts";
