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
export { machine } from "./builder/flow.ts";
export { s3Inventory, s3Items, s3Objects } from "./builder/run.ts";
export {
  and,
  eq,
  exists,
  gt,
  gte,
  item,
  jsonata,
  lt,
  lte,
  ne,
  not,
  or,
  orElse,
  shape,
} from "./builder/expression.ts";
export type { Flow, Machine, MachineOptions } from "./builder/contract.ts";
export { executionInput } from "./builder/options.ts";
export type { Caught, Retrier } from "./builder/options.ts";
export type { Batch, FailedChild, Reader } from "./builder/items.ts";
export type { Ref, Template } from "./builder/expression.ts";
export { approval } from "./approval/declaration.ts";
export type { ApprovalOptions, Question } from "./approval/declaration.ts";
export * from "./approval/contract.ts";
export { approvalSignals } from "./approval/signals.ts";
export { answerTask, waitingStep } from "./client/answer.ts";
export type { JobDone, TaskAnswer } from "./client/answer.ts";
export type * from "./observe/contract.ts";
export * from "./redrive/contract.ts";
export { functionOf, isInvoke, parametersOf } from "./definition/functions.ts";
export { readDefinition } from "./definition/load.ts";
export { workflowSignals } from "./signals.ts";
export { workflowStarter } from "./client/target.ts";
export type * from "./client/index.ts";
