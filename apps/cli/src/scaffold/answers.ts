// The nine answers of each shape: what a review asks before it asks for a service's name. How it starts and what says that there is
// too little of it stand with the shape (shapes.ts), and are not said again here.
import { shapes, type ShapeName } from "./shapes.ts";

export interface Answers {
  readonly starts: string;
  readonly finishes: string;
  readonly fails: string;
  readonly "is repeated": string;
  readonly scales: string;
  readonly "is observed": string;
  readonly "is deployed": string;
  readonly "is isolated": string;
  readonly costs: string;
}

/** Answers that are not the shape's own: how it starts, and by what it scales. */
interface Own extends Omit<Answers, "starts" | "scales"> {
  /** How, once its signal says so. */
  readonly grows: string;
  /** What to read next. */
  readonly read: string;
}

const besides =
  "the new beside the old; the old ends by SIGTERM: it takes nothing new and finishes what it has begun";
const byKey = "tuntas alarm list; the console's page of it";
const commits = "its commits; idle it costs next to nothing";
const ownQueue = "a queue, a concurrency and a pool of its own; limits a tenant; runsOn another service";

const own: Readonly<Record<ShapeName, Own>> = {
  schedule: {
    finishes: "what it started has ended; its occurrence is succeeded, failed or skipped, on the record",
    fails: "its occurrence is failed, or overdue where no success comes; owner and runbook are told",
    "is repeated": "by its window: an occurrence that is run again works on the same [start, end)",
    grows: "the work goes to a queue: more processes",
    "is observed": `tuntas schedule list; alarms schedule-overdue, -late, -failed; ${byKey}`,
    "is deployed": "with the application; it is paused and resumed without a deployment",
    "is isolated": "overlap and catch-up of its own; its work has a queue of its own",
    costs: "a row an occurrence; what it starts",
    read: "docs/recipes/schedules.md",
  },
  stream: {
    finishes: "its handler returns; effect and checkpoint are one commit",
    fails: "a record that no attempt can use is parked, or stops its partition; the rest goes on",
    "is repeated": "from the checkpoint; rewound, it reads again from where it is told to",
    grows: "more processes, up to the partitions",
    "is observed": "tuntas stream show NAME: lag; alarms stream-behind, -stopped, -parked",
    "is deployed": besides,
    "is isolated": "each consumer has its own checkpoints and may stand without the others",
    costs: "a commit a batch of records; what is kept until it is old",
    read: "docs/recipes/streams.md",
  },
  backfill: {
    finishes: "every slice is done and verified; counts and what was skipped are on the record",
    fails: "it stops itself at a share of failures; nothing of it runs on until a person says so",
    "is repeated": "from the checkpoint of each partition; what is done is not done again",
    grows: "its rate, which a person turns while it runs",
    "is observed": "tuntas backfill show NAME; alarm backfill-stopped",
    "is deployed": "with the application; a run keeps the plan that was approved",
    "is isolated": "records a second, a window, and it gives way to the work of the day",
    costs: "the database's time, as much as its rate lets it",
    read: "docs/recipes/backfill.md",
  },
  batch: {
    finishes: "all partitions are staged and valid; one commit promotes them by its manifest",
    fails: "failed partitions have their reason; nothing of the job is seen by readers",
    "is repeated": "partition by partition: tuntas batch retry runs those that failed, and no other",
    grows: "more processes, up to the partitions",
    "is observed": "tuntas batch show NAME: partitions by state; alarm batch-failed",
    "is deployed": besides,
    "is isolated": "a concurrency and a queue of its own; staged apart from what is read",
    costs: "a commit a partition, and its staging",
    read: "docs/recipes/batch.md",
  },
  approval: {
    finishes: "with a person's decision, or its deadline's",
    fails: "overdue: it escalates, delegates or expires, as declared",
    "is repeated": "a decision is taken once; a second one is told of the first",
    grows: "more people: delegate, escalate",
    "is observed": "tuntas approval list; alarm approval-overdue",
    "is deployed": "with its workflow; what was asked stays as it was asked",
    "is isolated": "who may decide is declared; nobody approves what he asked for",
    costs: "a row; while it waits nothing runs and no transaction is open",
    read: "docs/recipes/approve.md",
  },
  workflow: {
    finishes: "in a state that ends; its output or error stays on the record",
    fails: "with the error's name, at a state, from which it may be redriven",
    "is repeated": "retry by state; redrive from where it failed: what was done stays done",
    grows: "more processes; what waits takes no room in any",
    "is observed": "history, graph and waterfall in the console; alarms workflow-failed, -timed-out, -stuck",
    "is deployed": "by version and alias; what runs keeps the version it began with",
    "is isolated": "a concurrency of its own a task; data goes in by identifiers",
    costs: "a commit a step; waiting costs nothing",
    read: "docs/recipes/builder.md",
  },
  command: {
    finishes: "with a result document and a check of the domain after it",
    fails: "STOPPED, TIMED_OUT or FAILED; of its transaction nothing is left",
    "is repeated": "the same arguments answer with the run that was",
    grows: "not meant to: make it a backfill",
    "is observed": "tuntas command list; alarms command-failed, -timed-out, -overdue",
    "is deployed": "with the application; what was approved is what runs",
    "is isolated": "a database role of its own; four eyes where it destroys",
    costs: "its run",
    read: "docs/recipes/one-off.md",
  },
  api: {
    finishes: "with an answer: 2xx, or 202 and an address to ask at",
    fails: "with a problem document (RFC 9457) and a code; overload is 503 with Retry-After",
    "is repeated": "by Idempotency-Key: the first answer again; 422 where the body is another one",
    grows: "more instances, by a rule",
    "is observed": "/livez, /readyz, /metrics; a correlation id from request to log",
    "is deployed": "batch by batch behind its health check; rolled back by itself",
    "is isolated": "limits and a budget of connections of its own",
    costs: "its processes, whether anybody calls or not",
    read: "docs/recipes/http-service.md",
  },
  worker: {
    finishes: "its handler returns; effect and acknowledgement are one commit",
    fails: "retried with backoff, then a dead letter with reason, owner and runbook",
    "is repeated": "by its key: twice is once, and a replay is safe",
    grows: "more instances, never more than what stands behind them bears",
    "is observed": "tuntas queue show NAME; alarms oldest-message, dead-letters",
    "is deployed": besides,
    "is isolated": ownQueue,
    costs: commits,
    read: "docs/learn/queues.md",
  },
  service: {
    finishes: "never, but by SIGTERM: out of the front, drained, closed, exit 0",
    fails: "it is replaced; one that fails again and again is rolled back, and told",
    "is repeated": "started anew: it keeps nothing that must last",
    grows: "more instances, by a rule",
    "is observed": "tuntas service describe NAME; its health, memory, log and reasons to stop",
    "is deployed": "batch by batch, with a circuit breaker and alarms that roll it back",
    "is isolated": "a process, limits of memory and CPU, a budget of connections",
    costs: "its instances, all the time",
    read: "docs/recipes/services.md",
  },
};

export const readNext = (shape: ShapeName): string => own[shape].read;

/** In the order of the questions. */
export function answersOf(shape: ShapeName): Answers {
  const { grows, read: _, ...answers } = own[shape];
  return {
    starts: `by ${shapes[shape].startsBy}`,
    finishes: answers.finishes,
    fails: answers.fails,
    "is repeated": answers["is repeated"],
    scales: `by ${shapes[shape].scalesBy.replace(/^nothing: /, "nothing, ")}: ${grows}`,
    "is observed": answers["is observed"],
    "is deployed": answers["is deployed"],
    "is isolated": answers["is isolated"],
    costs: answers.costs,
  };
}
