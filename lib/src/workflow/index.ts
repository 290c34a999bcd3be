export * from "./contract.ts";
export * from "./arn.ts";
export { workflowSignals } from "./signals.ts";
export { workflowStarter } from "./client/target.ts";
export type * from "./client/index.ts";
