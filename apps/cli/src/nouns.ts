// What `tuntas` alone shows: a line for each noun, in groups; of `help` the lines above them speak, and `version` is
// known from everywhere. Which commands a noun has stands in their table; a test holds the two together.

/** A heading and, under it, each noun (or command of one word) with what it is about. */
export type NounGroup = readonly [heading: string, nouns: Readonly<Record<string, string>>];

export const nounGroups: readonly NounGroup[] = [
  [
    "Begin",
    {
      new: "new work of each shape: code, test and runbook",
      choose: "which shape a piece of work has, question by question",
      explain: "what each shape answers for",
      review: "a design before it is code: what is open, what will hurt",
      serve: "engine, gateway and console without an application",
      dev: "an application, restarted when its code changes",
      doctor: "what is wrong here, and what to do",
      health: "ten conditions under which the whole is well",
      check: "what of an application will hurt later",
      drill: "trouble on purpose: expected beside seen",
      readiness: "checklists before production, with evidence",
      cost: "what the work costs a month on AWS, by driver",
      budget: "connections that services may open, against the server's",
      migration: "an application's own tables, as a step of a deployment",
      change: "a column or a message that becomes another, step by step",
    },
  ],
  [
    "Work",
    {
      queue: "queues: their counts, settings and faults",
      tenant: "what each tenant has used, and who can read it",
      message: "send, receive, look at and explain messages",
      workflow: "workflows and their executions",
      schedule: "what is due, when, and what became of it",
      stream: "streams, their consumers and parked records",
      batch: "jobs of batches, staged and promoted",
      backfill: "corrections of old records, slice by slice",
      service: "long-running processes and their deployments",
      lab: "stop all services where nobody uses them",
    },
  ],
  [
    "People",
    {
      dlq: "dead letters by cause: replay or reject them",
      approval: "what waits for a decision",
      operation: "governed acts: preview, start, pause, on the record",
      command: "declared one-off commands",
      alarm: "alarms, with their runbooks' live values",
      user: "who may use the console, as what",
      key: "keys for the gateway",
    },
  ],
  [
    "Records",
    {
      outbox: "what is still to be announced",
      effect: "calls to the outside, and those of unknown end",
      compensation: "what is being undone",
      reservation: "what is reserved, until when",
      lease: "who holds which lease",
      reconcile: "comparisons of two sides of the truth",
      discrepancy: "what they found, and its repair",
    },
  ],
];
