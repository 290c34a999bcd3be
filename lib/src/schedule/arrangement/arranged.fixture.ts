// What EventBridge Scheduler's API would arrange, for tests.
import { randomUUID } from "node:crypto";
import { defaultScope } from "../../queue/contract.ts";
import { defaultRetry, type Arrangement } from "../contract.ts";

/** To a queue of that name, with a name of its own, each minute. */
export const arranged = (queue: string, more: Partial<Arrangement> = {}): Arrangement => ({
  place: { ...defaultScope, group: "default", name: `s-${randomUUID()}` },
  expression: "rate(1 minute)",
  timeZone: "UTC",
  target: { kind: "queue", name: queue },
  input: "<aws.scheduler.scheduled-time> try <aws.scheduler.attempt-number>",
  extras: {},
  startsMs: null,
  endsMs: null,
  flexibleMs: 0,
  ...defaultRetry,
  deadLetter: null,
  afterwards: "keep",
  enabled: true,
  description: null,
  request: null,
  ...more,
});
