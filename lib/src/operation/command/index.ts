// The door of one-off commands, as `tuntas/operation` shows it.
export * from "./contract.ts";
export type { CloseOptions, Commands } from "./client.ts";
export { command } from "./declaration.ts";
export { commandMetrics, commandSignals } from "./signals.ts";
