// The door of the stream room: `tuntas/stream`.
export * from "./contract.ts";
export type { ConsumerName, ParkedChoice, Streams } from "./client/index.ts";
export { consumer, stream } from "./declaration.ts";
export { streamMetrics, streamSignals } from "./signals.ts";
