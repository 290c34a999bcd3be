// The smells of a shape that does not fit: what people see of it, how much of that makes it sure, and the way out. A symptom is ticked
// by who knows the work; one alone has other causes too, so that it takes two, unless it is what the smell is.
import type { ShapeName } from "../scaffold/shapes.ts";

/** What is ticked. */
export const symptoms = {
  timeoutRaised: "Its timeout was raised, more than once.",
  usersWait: "Users wait while long work is done.",
  expensiveRetries: "A retry does expensive work again.",
  gatewayLimit: "The timeout of a gateway or load balancer has become a limit of the business.",
  polledAnyway: "The front end polls anyway.",
  placeholderEndpoints: "There are endpoints that stand for no resource, only for a step.",
  handMadeRetries: "Clients have retries of their own making.",
  statusTableGrows: "The table of states gets a column with every release.",
  hardToRecover: "After a failure a person finds out by hand what is half done.",
  switchOverStatus: "A large switch over a status decides what is done.",
  retriesDiffer: "Its steps are tried again by different rules.",
  approvalAdded: "A person's approval was added to it.",
  hiddenCompensation: "What undoes a step stands in branches of the code.",
  logsOfDays: "To see what happened one reads the logs of hours or days.",
  manyTinyStates: "It has dozens of states that only compute.",
  transitionsDominate: "Its transitions cost more, or are harder to read, than the work in them.",
  nothingToSee: "Nobody of the business looks at its states.",
  clearerLocally: "The same would be clearer as code in one place.",
  wholeSetAgain: "Each run works through the whole large set again.",
  wantedSooner: "Its result is wanted within minutes of a change.",
  windowGrows: "Its runs take longer from month to month.",
  failureRerunsAll: "A failure means that nearly all of it is run again.",
  orderUnneeded: "The order of the records does not matter.",
  replayUnneeded: "Nobody reads them a second time.",
  blockedByOne: "One bad record holds up those behind it.",
  onlyDistribution: "The records are work to be shared out, and no more.",
  statusDecides: "A status column says what is done next.",
  transitionsChecked: "Some changes of the status must be refused.",
  retryPolicies: "What fails is to be tried again by a rule.",
  stepsTimeOut: "Something must happen when a step takes too long.",
  compensates: "Something must be undone when a later step fails.",
  branchesMeet: "Several things go on at once, and it goes on when all have ended.",
  waitsLong: "It waits: for a time, or for a day.",
  calledBack: "Somebody else answers later.",
  historyWanted: "Somebody asks how it got into the state that it is in.",
  errorsByState: "An error means something else in each state.",
} as const;
export type Symptom = keyof typeof symptoms;

export interface Smell {
  /** Of which shapes a blank page asks about it. */
  readonly of: readonly ShapeName[];
  /** So many of these make it sure. */
  readonly sure: number;
  readonly seen: readonly Symptom[];
  /** Without this one it is none. */
  readonly needs?: Symptom;
  readonly smell: string;
  readonly why: string;
  readonly fix: readonly string[];
  /** The shape to begin with. */
  readonly begin: ShapeName;
  readonly source: string;
}

export const smells = {
  "request-should-be-async": {
    of: ["api"],
    sure: 2,
    seen: ["timeoutRaised", "usersWait", "expensiveRetries", "gatewayLimit", "polledAnyway"],
    smell: "A caller waits for work that is longer than a request.",
    why: "The first proxy on the way that loses patience decides how long the work may take, and each retry does it again.",
    fix: [
      "Answer with an id at once: 202.",
      "Give the long part to a worker or a workflow.",
      "Let the caller ask for its status under that id, or tell him by an event (docs/recipes/long-job.md).",
    ],
    begin: "api",
    source: "https://learn.microsoft.com/azure/architecture/patterns/asynchronous-request-reply",
  },
  "everything-is-rest": {
    of: ["api"],
    sure: 2,
    seen: ["placeholderEndpoints", "polledAnyway", "handMadeRetries", "statusTableGrows", "hardToRecover"],
    smell: "All work is pushed through requests.",
    why: "Queue, retry and recovery are there all the same, spread over clients and a table of states, and nobody operates them.",
    fix: [
      "Keep in the request what its caller waits for.",
      "Send the rest as messages, in the transaction of the request.",
      "Let the queue have the retries, the dead letters and the owner that clients have now.",
    ],
    begin: "worker",
    source: "https://learn.microsoft.com/azure/architecture/patterns/queue-based-load-leveling",
  },
  "worker-should-be-workflow": {
    of: ["worker", "api"],
    sure: 2,
    seen: ["switchOverStatus", "retriesDiffer", "approvalAdded", "hiddenCompensation", "logsOfDays"],
    smell: "One handler leads a process of several steps.",
    why: "It has one retry and one timeout for all of them and no memory of where it was, so that each failure begins from the start or in a branch that nobody has tried.",
    fix: [
      "Leave the order of the steps to a state machine.",
      "Make each step a small handler.",
      "Keep the state of the domain in its own tables, on purpose, not as the machine's memory.",
    ],
    begin: "workflow",
    source: "https://docs.aws.amazon.com/lambda/latest/dg/orchestration.html",
  },
  "workflow-should-be-worker": {
    of: ["workflow"],
    sure: 2,
    seen: ["manyTinyStates", "transitionsDominate", "nothingToSee", "clearerLocally"],
    smell: "A workflow does what one function could.",
    why: "Each state costs a transition and a commit, and what it shows nobody looks at.",
    fix: [
      "Fold what only computes into one function.",
      "Keep a state where the business has one: a wait, a decision, something to undo.",
    ],
    begin: "worker",
    source: "https://aws.amazon.com/step-functions/pricing/",
  },
  "batch-should-be-stream": {
    of: ["batch", "schedule"],
    sure: 2,
    seen: ["wholeSetAgain", "wantedSooner", "windowGrows", "failureRerunsAll"],
    smell: "A batch works through everything to find what has changed.",
    why: "It takes longer as the set grows, until one night it does not end before the day.",
    fix: [
      "Work on each change as it comes, from a stream.",
      "Keep the batch for reconciliation and backfills.",
    ],
    begin: "stream",
    source: "https://aws.amazon.com/what-is/streaming-data/",
  },
  "stream-should-be-queue": {
    of: ["stream"],
    sure: 2,
    seen: ["orderUnneeded", "replayUnneeded", "blockedByOne", "onlyDistribution"],
    smell: "A stream shares out work.",
    why: "What nobody needs, its order, makes each record wait for the one before it.",
    fix: [
      "Take a queue: each message is tried, retried and laid aside without the others.",
      "Give it a dead-letter queue with an owner.",
      "Scale its workers by the backlog.",
    ],
    begin: "worker",
    source: "https://aws.amazon.com/kinesis/data-streams/faqs/",
  },
  "status-column-as-workflow": {
    of: ["api", "worker", "schedule", "batch"],
    sure: 1,
    needs: "statusDecides",
    seen: [
      "transitionsChecked",
      "retryPolicies",
      "stepsTimeOut",
      "compensates",
      "branchesMeet",
      "waitsLong",
      "calledBack",
      "historyWanted",
      "errorsByState",
    ],
    smell: "A status column is used as a workflow engine.",
    why: "A column knows the state that is. Retries, timeouts, waits, undoing and history are then code around it, each written once more.",
    fix: [
      "Let a workflow lead, and keep the column as what the domain says of itself.",
      "For a lifecycle that needs none of these, the column is enough.",
    ],
    begin: "workflow",
    source: "https://docs.aws.amazon.com/lambda/latest/dg/orchestration.html",
  },
} as const satisfies Record<string, Smell>;
export type SmellId = keyof typeof smells;

export const smellEntries = Object.entries(smells) as readonly (readonly [SmellId, Smell])[];

/** What a blank page of that shape lists, each once. */
export function symptomsOf(shape: ShapeName): Symptom[] {
  const seen = smellEntries
    .filter(([, { of }]) => of.includes(shape))
    .flatMap(([, smell]) => (smell.needs ? [smell.needs, ...smell.seen] : smell.seen));
  return [...new Set(seen)];
}
