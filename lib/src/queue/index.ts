export * from "./contract.ts";
export { isSqsName, isSqsText, isStorable } from "../core/text.ts";
export { textsOf, type Attribute } from "./attributes.ts";
export { composeMessage, type Draft } from "./compose.ts";
export { encodeReceipt } from "./receipt.ts";
export { queueSignals } from "./signals.ts";
export type * from "./client/index.ts";
export type { CommittingContext, Context } from "./worker/context.ts";
