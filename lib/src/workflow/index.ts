export * from "./contract.ts";
export * from "./arn.ts";
export { task, workflow } from "./declaration.ts";
export type {
  Handle,
  StartOptions as WorkflowStartOptions,
  Task,
  TaskContext,
  TaskDefinition,
  TaskOptions,
  WorkflowDefinition,
  WorkflowOptions,
} from "./declaration.ts";
export { workflowSignals } from "./signals.ts";
export { workflowStarter } from "./client/target.ts";
export type * from "./client/index.ts";
