// What is to be tested of each shape, and what must come out of it. Each fails in ways of its own, so one plan for all would test the
// same easy thing ten times.
import type { ShapeName } from "./shapes.ts";

/** A test's name, and what is done and seen in it. */
export type Plan = Readonly<Record<string, string>>;

const steps: Plan = {
  transitions: "each way through the machine, the default of each choice too: tuntas workflow test",
  "retry and catch": "each error that a state names, once less and once more than its attempts",
  timeout: "a task that never answers: its state times out, and what follows is right",
  compensation: "a failure after each step that has something to undo: undone in reverse, each once",
  "duplicate callback": "the same token answered twice: the second answer changes nothing",
  "version change": "a new version while executions run: they end on the version they began with",
};

const plans: Readonly<Record<ShapeName, Plan>> = {
  schedule: {
    overlap: "due while the last one still works: as `overlap` says, and on the record",
    "missed run": "nobody there when it is due: caught up as `catchUp` says, else recorded as missed",
    "time zone": "the hour that comes twice and the one that does not: once each",
    "window replay": "the same window twice: the same result, nothing twice",
  },
  stream: {
    order: "records of one key: effects in their order",
    replay: "rewound to the start: the projection is the same as before",
    "poison record": "one that no attempt can use: parked or stopped, as declared; other partitions go on",
    "crash around the checkpoint": "killed before and after its commit: each record has one effect",
  },
  backfill: {
    "dry run": "it shows what it would change, and changes nothing",
    scope: "records outside the scope, and final ones, stay as they are",
    resume: "killed in the middle: it goes on at its checkpoint, and nothing is done twice",
    abort: "more failures than its share: it stops itself",
    undo: "undone by its plan: the records are as they were",
  },
  batch: {
    "partition retry": "one partition fails: only that one runs again",
    "partial failure": "nothing of the job is seen while a partition is missing",
    "commit protocol": "killed while it promotes: readers see the old output or the new, never some of both",
    resume: "killed in the middle: staged partitions stay, the rest is done",
  },
  approval: {
    "four eyes": "who asked may not decide; the second decision is told of the first",
    deadline: "nobody decides: it escalates and expires as declared",
    "duplicate callback": steps["duplicate callback"]!,
    restart: "decided while every process was down: it goes on when one is there",
  },
  workflow: steps,
  command: {
    "dry run": "it shows what it would change, and all is taken back",
    arguments: "a wrong one is refused before anything runs",
    repeat: "the same arguments again: the run that was, and no second effect",
    timeout: "past its time it is stopped, and its transaction undone",
    role: "its database role may not do what it does not need",
  },
  api: {
    contract: "each answer and each error, as documented",
    load: "more than it bears: 503 with Retry-After, and what it accepted is done",
    timeout: "a slow dependency: an answer within the budget",
    idempotency: "the same key twice: one effect, the first answer again; another body: 422",
  },
  worker: {
    duplicate: "the same message twice: one effect",
    poison: "a message that nothing can use: quarantined with its reason, good ones go on",
    retry: "the downstream fails, then works: done, once, after the backoff",
    shutdown: "SIGTERM in the middle: it finishes and exits 0; kill -9: done by another, once",
    backlog:
      "more than it can do: nothing is lost, the oldest is back within its objective, the downstream bears it",
  },
  service: {
    SIGTERM: "under load: nothing that was accepted is lost, exit 0 within its patience",
    soak: "hours under load: memory, connections and latency stay level",
    "rolling update": "a bad revision under load: rolled back, and no request notices",
  },
};

const ofTenants: Plan = {
  "data isolation": "a tenant asks for another's data, by key, query and message: it gets none",
  "noisy neighbour": "one tenant sends a hundredfold: the others stay within their objective",
};

const ofDaemons: Plan = {
  upgrade: "machine by machine: the work on them goes on",
  "fails open or closed": "it is down: work goes on or is refused, as was decided, and somebody is told",
  privilege: "it may do what it needs on its machine, and nothing else",
};

/** Of work of that shape; of work that belongs to tenants, and of a daemon, a few more. */
export const planOf = (
  shape: ShapeName,
  { tenants = false, daemon = false }: { readonly tenants?: boolean; readonly daemon?: boolean } = {},
): Plan => ({ ...plans[shape], ...(tenants ? ofTenants : {}), ...(daemon ? ofDaemons : {}) });
