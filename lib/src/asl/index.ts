// The door of the Amazon States Language: definitions in, decisions out. No IO, no clock, no chance of its own.
export type * from "./contract.ts";
export { exceedsTolerance } from "./map-run.ts";
export { next } from "./next.ts";
export { compileMachine, type Machine, processorOf } from "./parse.ts";
export { evaluateHere } from "./query/evaluator.ts";
