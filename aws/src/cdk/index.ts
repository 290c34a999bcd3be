// The door of `@tuntas/aws/cdk`.
export { TuntasApp, type ServiceDeployment, type TuntasAppProps } from "./app.ts";
export { deployErrors } from "./errors.ts";
export { ServiceNetwork, type ServiceNetworkProps } from "./network.ts";
export { DeclaredQueue, type DeclaredQueueProps } from "./queue.ts";
export { DeclaredSchedule, type DeclaredScheduleProps } from "./schedule.ts";
export { DeclaredService, type DeclaredServiceProps, type Reached, type ServiceWork } from "./service.ts";
export { DeclaredWorkflow, type DeclaredWorkflowProps, type WorkflowDeployment } from "./workflow.ts";
