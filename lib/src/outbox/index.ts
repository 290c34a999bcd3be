// The door of the outbox room: `tuntas/outbox`.
export * from "./contract.ts";
export { add, addAll, listParked, putBack, readDeliveries, readStatus } from "./client.ts";
export type { AddOptions, Delivery, PutBackFilter } from "./client.ts";
export { discardParked, outboxItem, outboxItems, retryParked } from "./operator.ts";
export type { Act, ItemFilter } from "./operator.ts";
export { endpoint } from "./declaration.ts";
export { httpTarget } from "./http.ts";
export { outboxSignals } from "./signals.ts";
export { Unavailable } from "../engine/unavailable.ts";
export { inSchema } from "../pg/join.ts";
export type { Transaction } from "../pg/join.ts";
export type { Announcement, Receipt, Target, TargetName } from "../engine/target.ts";
export { choosePattern, executionName, startInput } from "./start/command.ts";
export type { StartCommand, StartNeeds, StartPattern } from "./start/command.ts";
export {
  recordStart,
  startByOutbox,
  startDirectly,
  startMissing,
  startRecorded,
  workflowTarget,
} from "./start/index.ts";
export type { StartAnswer } from "./start/index.ts";
export { missingStarts } from "./start/store.ts";
export type { StartRow } from "./start/store.ts";
