// The door of the files room.
export { filesErrors } from "./contract.ts";
export type { Arrival, FileFacts, FileName, Files, PutOptions, PutResult } from "./contract.ts";
export { folderFiles } from "./folder.ts";
export { s3Notice } from "./notice.ts";
export { filesMetrics, filesSignals, told } from "./signals.ts";
export { nameText, same, summed, sumOf, verified, type Sum } from "./verified.ts";
