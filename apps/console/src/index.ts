// The door of the console: the pages and their JSON, to be served beside the gateway.
export { consolePages, type ConsoleOptions, type ConsolePages } from "./server/index.ts";
export { consoleErrors } from "./contract.ts";
export type * from "./api/index.ts";
