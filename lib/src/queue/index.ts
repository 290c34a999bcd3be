export * from "./contract.ts";
export { encodeReceipt } from "./receipt.ts";
export { queueSignals } from "./signals.ts";
export type * from "./client/index.ts";
