// The shapes of work: how each starts, whether somebody waits, how long it takes, where its state lives, and which to take.

export interface Shape {
  /** The name of the work in the template, which gives way to the one that was asked for. */
  readonly template: string;
  readonly startsBy: string;
  /** Whether a caller waits for its end. */
  readonly waits: string;
  readonly takes: string;
  readonly state: string;
  /** Who sees to it that as many run as should. */
  readonly keptBy: string;
  /** What says that there is too little of it. */
  readonly scalesBy: string;
  /** Where it is usually at home on AWS. */
  readonly aws: string;
  /** Take it where this is so. */
  readonly when: string;
  /** What people call work of this shape; each word leads here. */
  readonly kinds: readonly string[];
  /** What to do once it is installed, and what that does. */
  readonly tries: readonly (readonly [line: string, meaning: string])[];
}

const dev = ["npm run dev", "it works; the console's address is printed"] as const;

/** In the order in which they are asked about: the first that fits is taken. */
export const shapes = {
  schedule: {
    template: "nightly-report",
    startsBy: "the clock",
    waits: "no",
    takes: "seconds to hours",
    state: "a row an occurrence, with its window",
    keptBy: "nobody: any process that lives starts an occurrence, once",
    scalesBy: "occurrences that wait",
    aws: "EventBridge Scheduler → SQS or Lambda; RunTask for a container, Step Functions for several steps, Batch for heavy computing",
    when: "It is due by the clock.",
    kinds: ["report", "report-generation", "reconciliation", "cron", "scheduled", "clock", "drift"],
    tries: [dev, ['npx tuntas schedule run NAME --reason "to try it"', "as if it were due"]],
  },
  stream: {
    template: "order-history",
    startsBy: "a record that is appended",
    waits: "no",
    takes: "milliseconds to seconds a batch",
    state: "a checkpoint a consumer and partition",
    keptBy: "its service or process; partitions are shared out among those that live",
    scalesBy: "lag, partitions",
    aws: "Kinesis, with Lambda or KCL",
    when: "It is a log, in order, which several read, and read again.",
    kinds: ["event-projector", "projection", "projector", "event", "consumer", "log"],
    tries: [dev, ["npx tuntas stream show NAME", "who has read how far"]],
  },
  backfill: {
    template: "price-correction",
    startsBy: "a person, with another's approval",
    waits: "no",
    takes: "minutes to days",
    state: "a checkpoint a partition of the scope",
    keptBy: "nobody: whoever lives takes the next slice, until it ends",
    scalesBy: "its rate, which gives way to others",
    aws: "an ECS task, or a Distributed Map",
    when: "Old records are to be put right while everything runs.",
    kinds: ["history", "correction", "data-migration"],
    tries: [
      dev,
      [`npx tuntas backfill plan NAME --scope '{"shop":"north"}' --reason "to try it"`, "then its runbook"],
    ],
  },
  batch: {
    template: "file-import",
    startsBy: "a job that is handed in",
    waits: "no",
    takes: "minutes to hours",
    state: "a row a partition, and the job's manifest",
    keptBy: "nobody: whoever lives takes the next partition, until it ends",
    scalesBy: "partitions that wait",
    aws: "AWS Batch, an ECS task or a Distributed Map",
    when: "It is a large set with an end, whose result is seen whole or not at all.",
    kinds: ["file", "file-processing", "import", "export", "upload", "pipeline"],
    tries: [dev, [`npx tuntas batch start NAME '{"file":"payments.csv"}' --reason "to try it"`, "a job"]],
  },
  approval: {
    template: "large-payment",
    startsBy: "a question to people",
    waits: "for its status only",
    takes: "hours to days",
    state: "the execution and its approval",
    keptBy: "nobody: it is a row",
    scalesBy: "questions that are overdue",
    aws: "Step Functions with a task token",
    when: "People decide in the middle of it.",
    kinds: ["human", "decision", "four-eyes"],
    tries: [
      dev,
      [
        `npx tuntas workflow start NAME '{"paymentId":"p1","amount":90000,"requestedBy":"ana"}'`,
        "it asks; the console has the question",
      ],
    ],
  },
  workflow: {
    template: "refund-request",
    startsBy: "a command or an event",
    waits: "for its status only",
    takes: "minutes to months",
    state: "the execution's",
    keptBy: "nobody: it is rows, and whoever lives does the next task",
    scalesBy: "executions that are under way",
    aws: "Step Functions",
    when: "It has several steps, with waits, or with something to undo.",
    kinds: ["state-machine", "saga", "long-workflow-step", "process"],
    tries: [
      dev,
      [`npx tuntas workflow start NAME '{"refundId":"r1","amount":40}'`, "it cools off for a day, then pays"],
    ],
  },
  command: {
    template: "case-repair",
    startsBy: "a person, on the record",
    waits: "the person",
    takes: "seconds to minutes",
    state: "its run, with result and evidence",
    keptBy: "nobody: it runs once, in any process of the application",
    scalesBy: "nothing: it runs once",
    aws: "an ECS task that is run by hand",
    when: "A person runs it now and then: a migration, a repair, a diagnosis.",
    kinds: ["one-off", "one-off-migration", "migration", "operational-task", "operator", "task", "script"],
    tries: [
      dev,
      ['npx tuntas command run NAME --arg caseId=case-1 --reason "to try it"', "a dry run, all taken back"],
    ],
  },
  api: {
    template: "order-intake",
    startsBy: "an HTTP request",
    waits: "yes",
    takes: "milliseconds to seconds",
    state: "your tables",
    keptBy: "its service: an instance that is lost is replaced",
    scalesBy: "requests a second, latency",
    aws: "an ECS service, Lambda behind API Gateway",
    when: "A caller waits for the answer, and what is long is only accepted.",
    kinds: ["http", "rest", "request"],
    tries: [
      ["npm start", "it listens on PORT, 8080 by default"],
      [
        `curl -X POST http://127.0.0.1:8080/orders -H 'content-type: application/json' -H 'idempotency-key: 1' -d '{"customerId":"ana"}'`,
        "an order, the same each time",
      ],
    ],
  },
  worker: {
    template: "parcel-label",
    startsBy: "a message",
    waits: "no",
    takes: "seconds to minutes",
    state: "your tables, and keys of what is done",
    keptBy: "its service or process: an instance that is lost is replaced",
    scalesBy: "backlog, age of the oldest",
    aws: "Lambda or an ECS service on SQS",
    when: "It is items that have nothing to do with each other.",
    kinds: ["queue", "queue-consumer", "job", "message"],
    tries: [
      dev,
      [`npx tuntas message send NAME '{"parcelId":"p1","country":"ID"}'`, "send it twice: one label"],
    ],
  },
  service: {
    template: "price-feed",
    startsBy: "the start of its process",
    waits: "it depends",
    takes: "no end",
    state: "none that must last",
    keptBy: "its desired count: an instance that is lost is replaced",
    scalesBy: "processor, memory, connections",
    aws: "an ECS service",
    when: "It must stay alive: connections, a feed, what supports the machine.",
    kinds: ["daemon", "long-running", "websocket"],
    tries: [
      ["npx tuntas service run &", "what keeps the machine's services alive"],
      ["npx tuntas service deploy NAME --app dist/NAME.js", "two instances, once they are healthy"],
    ],
  },
} as const satisfies Record<string, Shape>;

export type ShapeName = keyof typeof shapes;
export const shapeNames = Object.keys(shapes) as ShapeName[];

export const isShapeName = (word: string): word is ShapeName => Object.hasOwn(shapes, word);

/** The shape of what people call so. */
export const shapeOfKind = (word: string): ShapeName | undefined =>
  shapeNames.find((name) => (shapes[name].kinds as readonly string[]).includes(word));
