// The door of the operation room: `tuntas/operation`.
export * from "./contract.ts";
export * from "./command/index.ts";
export { operationKey } from "./client.ts";
export type { Operations } from "./client.ts";
export { operationSignals } from "./signals.ts";
export type { Verb } from "./state.ts";
export type { MoveSelection, RejectSelection, ReplaySelection } from "./kinds/dead-letters.ts";
export type { PurgeSelection } from "./kinds/purge.ts";
export type { RedriveSelection } from "./kinds/redrive.ts";
