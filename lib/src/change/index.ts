// The door of changes: `tuntas/change`.
export * from "./contract.ts";
export type { Changes } from "./client.ts";
export { textOf } from "./state.ts";
