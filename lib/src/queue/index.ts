export * from "./contract.ts";
export { isSqsName, isSqsText, isStorable } from "../core/text.ts";
export { textsOf } from "./attributes.ts";
export { encodeReceipt } from "./receipt.ts";
export { composeMessage, type Draft } from "./send.ts";
export { queueSignals } from "./signals.ts";
export type * from "./client/index.ts";
