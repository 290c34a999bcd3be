// `tuntas/series`: figures over time, and what happened beside them.
export * from "./contract.ts";
export { makeTimeSeries, type TimeSeries } from "./client.ts";
export { widths } from "./state.ts";
