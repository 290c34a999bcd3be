// The door of the Amazon States Language: definitions in, decisions out. No IO, no clock, no chance of its own.
export type * from "./contract.ts";
export { detailsKey, wireEvent } from "./history.ts";
export { copyOf } from "./json.ts";
export { isTooDeep, limitMeanings, limits, readJson } from "./limits.ts";
export { exceedsTolerance } from "./map-run.ts";
export { next } from "./next.ts";
export { compileMachine, type Machine, processorOf } from "./parse.ts";
export { memoryExceeded, timeExceeded } from "./query/bounds.ts";
export { evaluateHere } from "./query/evaluator.ts";
export { plainJson } from "./query/plain.ts";
export { historyFullCause, specAt } from "./run.ts";
export { type Resource, resourceOf } from "./states/task.ts";
export { simulate, type Simulation, type SimulationOptions, type TaskStep } from "./simulate.ts";
export {
  testState,
  type TestStateOptions,
  type TestStateRequest,
  type TestStateResponse,
} from "./test-state.ts";
export { TestStateError } from "./test-state-request.ts";
export { type Diagnostic, invalidDefinitionMessage, validateDefinition } from "./validate/index.ts";
