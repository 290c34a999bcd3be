// The door for whoever brings a service in which declared workflows may run (`tuntas/workflow/remote`), as `@tuntas/aws` does.
export { taskQueueNameOf, taskQueueOf, type Responsible, type TaskQueue } from "./queue.ts";
export type * from "./contract.ts";
