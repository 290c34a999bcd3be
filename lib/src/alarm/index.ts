// `tuntas/alarm`: what people are to be told, and what they do then.
export * from "./contract.ts";
export { alarm } from "./declaration.ts";
export { makeAlarms, type Alarms } from "./client.ts";
export type { AlarmAnnouncement } from "./notify.ts";
export { isBeyond, judge, type Judging, type Period } from "./state.ts";
export { suggestForBacklog, type BacklogFigures } from "./runbook.ts";
export { shippedAlarms } from "./shipped.ts";
export { conditionText } from "./words.ts";
