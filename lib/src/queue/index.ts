export * from "./contract.ts";
export { isSqsText, isStorable } from "../core/text.ts";
export { encodeReceipt } from "./receipt.ts";
export { checkTexts } from "./send.ts";
export { queueSignals } from "./signals.ts";
export type * from "./client/index.ts";
