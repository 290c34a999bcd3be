// Asking again and again, against being called back: what the rounds of a state machine cost that waits for a job. Pure.
import { limits } from "../asl/index.ts";
import { eventsOf } from "../check/machines/index.ts";
import type { PriceTable } from "./prices.ts";

export interface PollingCase {
  readonly everySeconds: number;
  readonly forSeconds: number;
  /** States of a round: a Wait, the question and a Choice by default. */
  readonly states?: number;
  /** A month. */
  readonly executions?: number;
}

export interface Polling {
  readonly checks: number;
  /** States entered by the rounds of one execution. */
  readonly transitions: number;
  /** The one state that waits for its callback. */
  readonly callbackTransitions: number;
  readonly extraTransitions: number;
  /** Of the events that an execution may have: 0 to 1 and above. */
  readonly historyShare: number;
  /** A month, in the currency of the prices. */
  readonly extraCost: number;
  /** How long, on average, the end of the job is not noticed. */
  readonly lateSeconds: number;
}

/** Each round waits first, so that a job that takes as long as a wait is seen at the first question. */
export function comparePolling(
  { everySeconds, forSeconds, states = 3, executions = 1 }: PollingCase,
  { prices }: PriceTable,
): Polling {
  const checks = Math.ceil(forSeconds / everySeconds);
  const transitions = checks * states;
  const extraTransitions = transitions - 1;
  return {
    checks,
    transitions,
    callbackTransitions: 1,
    extraTransitions,
    historyShare: (checks * eventsOf(states)) / limits.historyEvents,
    extraCost: (extraTransitions * executions * prices.thousandTransitions) / 1000,
    lateSeconds: everySeconds / 2,
  };
}
