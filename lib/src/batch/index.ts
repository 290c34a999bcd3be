// The door of the batch room: `tuntas/batch`.
export * from "./contract.ts";
export type { Batches } from "./client.ts";
export { batch, type TypedBatch } from "./declaration.ts";
export { batchMetrics, batchSignals } from "./signals.ts";
export * from "./backfill/index.ts";
export { jobResult } from "./result.ts";
