// A machine as boxes and arrows, and as text.
export * from "./model.ts";
export { toMermaid, toOutline } from "./text.ts";
