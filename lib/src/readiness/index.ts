// The door of the readiness room, `tuntas/readiness`: facts in, checklists out. It changes nothing.
export { listNames } from "./contract.ts";
export type {
  Checklist,
  Drilled,
  Facts,
  Line,
  ListName,
  PersonsAnswer,
  ReadinessDefinition,
} from "./contract.ts";
export { readiness, readinessErrors } from "./declaration.ts";
export type { ReadinessOptions } from "./declaration.ts";
export { readFacts } from "./facts.ts";
export { checklists } from "./state.ts";
export * from "./health/index.ts";
