// What becomes of each shape when something goes wrong: nine failures, of which two (the same input again, and how it fails for
// good) are among its nine answers (answers.ts) and are not said again here.
import { answersOf } from "./answers.ts";
import type { ShapeName } from "./shapes.ts";

/** Those that stand here. */
interface Own {
  readonly timeout: string;
  readonly "partial side effect": string;
  readonly "downstream outage": string;
  readonly overload: string;
  readonly "bad input": string;
  readonly "crash mid-work": string;
  readonly "bad deploy": string;
}

export interface Failures extends Own {
  readonly "duplicate input": string;
  readonly "terminal path": string;
}

const undone =
  "what it wrote is undone with its transaction; a call to the outside is a row of the ledger, asked about before it is made again";
const takenOver =
  "noticed in about a second and done again elsewhere; a late owner's fence fails, and it changes nothing";
const retriedLater =
  "tried again with backoff, then dead letters; a provider's breaker ends the calls meanwhile";
const waits = "it waits, on the record: the backlog grows and the load does not";
const rolledBack = "rolled back by breaker or alarm; what failed meanwhile is a dead letter, and is replayed";

const own: Readonly<Record<ShapeName, Own>> = {
  schedule: {
    timeout:
      "no success within `succeedsWithin`: the owner is paged; how long the work may take is said where it is",
    "partial side effect": "its work's; a second run has the same window, so that it is about the same time",
    "downstream outage":
      "its work is tried again; what is due meanwhile is left out, waits or runs beside it, by `overlap`",
    overload: "`overlap` decides about the next one, `flexible` spreads what begins on the hour",
    "bad input": "the window is the clock's; other input is refused where it is declared",
    "crash mid-work":
      "an occurrence and its work are one commit, so another process has it; what was missed is caught up by `catchUp`",
    "bad deploy": "the windows that failed are run again: tuntas schedule run",
  },
  stream: {
    timeout: "its signal aborts, and the records are tried again",
    "partial side effect": undone,
    "downstream outage": "its partition waits and tries again, nothing is passed over; the lag alarm tells",
    overload: "the lag grows, the alarm tells; it catches up as fast as its handler is",
    "bad input": "parked for a person, or its partition stops, as declared",
    "crash mid-work": "effect and checkpoint are one commit: the next owner begins where it stands",
    "bad deploy": "rolled back; rewound to before it, records are read again",
  },
  backfill: {
    timeout: "its slice is undone and tried again; after eight times the run stops itself",
    "partial side effect": undone,
    "downstream outage":
      "it goes slower while the downstream is slow, and stops itself at a share of failures",
    overload: "records a second, turned down while the database or the downstream is slow",
    "bad input": "records at fault are found one by one and stay on the record; the others go on",
    "crash mid-work": "a slice is a transaction: the next process goes on at the checkpoint",
    "bad deploy": "stopped by a person or by its share of failures, and undone by its plan",
  },
  batch: {
    timeout: "its partition is tried again, then failed; nothing of the job is seen by readers",
    "partial side effect":
      "staged rows go with their transaction; readers see a promoted job or the one before",
    "downstream outage": "its partitions are tried again, then failed: tuntas batch retry once it is back",
    overload: "partitions wait: at most `concurrency` of them at once, one job of a batch at a time",
    "bad input": "its partition fails with the reason, or validation does; nothing is promoted",
    "crash mid-work": takenOver,
    "bad deploy": "what was promoted before stays; the failed partitions run again once the code is right",
  },
  approval: {
    timeout: "overdue: it escalates, delegates or expires, as declared",
    "partial side effect": "decision and change are one commit, before the execution is told",
    "downstream outage": "the decision stays; what follows it is tried again by its state",
    overload: "questions wait for people; the overdue ones are told",
    "bad input": "a wrong decision, person or token is refused, and changes nothing",
    "crash mid-work": "it is a row: nothing ran, nothing is lost",
    "bad deploy": "what was asked stays as it was asked; the execution keeps its version",
  },
  workflow: {
    timeout: "States.Timeout of its state: Retry or Catch, else the execution ends with it",
    "partial side effect": `a step's: ${undone}; earlier steps are compensated by name`,
    "downstream outage": "Retry of the state, with backoff; then Catch, or a redrive once it is back",
    overload: "executions wait for a free handler; `concurrency` and MaxConcurrency bound what runs",
    "bad input": "the state fails with the error's name, and Catch decides; it is not tried again for that",
    "crash mid-work":
      "the execution is rows: the next process does the state again, and what was done stays done",
    "bad deploy": "its alias goes back to the version before; what runs keeps the version it began with",
  },
  command: {
    timeout: "TIMED_OUT, and its transaction is undone",
    "partial side effect": undone,
    "downstream outage":
      "FAILED with the reason; nothing of its transaction is left, and a person runs it again",
    overload: "none: it runs once, under a role and a timeout of its own",
    "bad input": "refused at the terminal as in the console, before anything runs",
    "crash mid-work": "its transaction is undone, and another process begins it anew",
    "bad deploy":
      "an approved run keeps the digest of its release, and is refused under another; its dry run says what it would do",
  },
  api: {
    timeout: "its budget is over: request.signal aborts, the answer is 503",
    "partial side effect":
      "request.tx is undone for every answer from 400 on; a slow side effect goes by the outbox",
    "downstream outage":
      "503 within the budget; what need not be at once is accepted with 202 and done by a worker",
    overload: "503 with Retry-After before the database hears of it; 429 for a tenant past its rate",
    "bad input": "400 with its issues, as a problem document; nothing is changed",
    "crash mid-work": "no answer and no change: the caller asks again with his key",
    "bad deploy": "a revision that is not ready gets no requests, and is rolled back by breaker or alarm",
  },
  worker: {
    timeout: "its signal aborts, the attempt is over and is tried again after its backoff",
    "partial side effect": undone,
    "downstream outage": retriedLater,
    overload: waits,
    "bad input": "quarantined with its reason at the first attempt; good ones go on",
    "crash mid-work": takenOver,
    "bad deploy": rolledBack,
  },
  service: {
    timeout: "one that does not end within its patience is killed; one that does not get ready is replaced",
    "partial side effect": "it keeps nothing that must last: what must is a message, an execution or a row",
    "downstream outage": "readiness says no, liveness yes: it gets no requests and is not restarted for it",
    overload: "bounded pools and a limit of memory: it refuses, and its rule starts another",
    "bad input": "with a wrong setting it does not get ready: it is rolled back, and the one before serves",
    "crash mid-work": "another is started; one that dies again and again is told",
    "bad deploy": "batch by batch; rolled back by breaker or alarm while the old one serves",
  },
};

/** In the order in which they are looked at. */
export function failuresOf(shape: ShapeName): Failures {
  const { timeout, ...others } = own[shape];
  const { fails, "is repeated": repeated } = answersOf(shape);
  return { "duplicate input": repeated, timeout, ...others, "terminal path": fails };
}
