// Complaint intake, each part in its room. The API accepts a complaint in one short transaction (server.ts); everything that may
// be slow, down or human happens behind it, on the record.
import { app, consumer, queue, stream, task, worker, workflow } from "tuntas";
import { answerTask, approval, eq, executionInput, gte, machine, shape } from "tuntas/workflow";
import { z } from "zod";
import { scoreOf, ScoringDown, tellOfficers } from "./outside.ts";
import {
  findComplaint,
  findDuplicates,
  insertComplaint,
  noteOverdue,
  setDuplicates,
  setNotified,
  setRisk,
  setStatus,
  type NewComplaint,
  type Tx,
} from "./store.ts";

const team = { owner: "intake-team", runbook: "runbooks/complaint-intake.md" };
const deadLetter = { after: 5, retention: "14d", ...team } as const;
const ids = z.object({ caseId: z.string() });

/** From this risk on a supervisor decides. */
const highRisk = 80;
/** By then somebody has decided, or the officers hear of it. */
const answerWithin = "5d";

// What happened, in its order: whoever wants to know reads it, and nobody who makes it happen has to know who that is.

const event = z.enum(["received", "scored", "checked", "escalated", "opened", "dismissed", "overdue"]);
type Event = z.infer<typeof event>;

export const caseEvents = stream("case-events", {
  record: z.object({ caseId: z.string(), event, by: z.string() }),
  partitions: 4,
  key: "case id: what happens to a case is seen in its order",
  retention: "30d",
  ...team,
});

/** In the transaction of the change: there is no change without its record. */
const tell = (tx: Tx, caseId: string, what: Event, by = "intake") =>
  caseEvents.append({ caseId, event: what, by }, { key: caseId, tx });

const reading = {
  from: "start",
  batch: 100,
  onBadRecord: "park",
  retry: { attempts: 5 },
  timeout: "20s",
  lagWithin: "1m",
} as const;

export const auditTrail = consumer(caseEvents, {
  ...reading,
  name: "audit-trail",
  handle: ({ id, appendedAtMs, value }, { tx }) =>
    tx.query(
      `insert into intake.audit (record, case_id, event, by_whom, at) values ($1, $2, $3, $4, to_timestamp($5::float8 / 1000))
       on conflict (record) do nothing`,
      [id, value.caseId, value.event, value.by, appendedAtMs],
    ),
});

export const officerNotices = queue("officer-notices", {
  message: z.object({ record: z.string(), caseId: z.string(), event }),
  deadLetter,
});

/** The officers hear of new cases and of those that nobody has decided in time. */
export const notifyOfficers = consumer(caseEvents, {
  ...reading,
  name: "notify-officers",
  async handle({ id, value: { caseId, event } }, { tx }) {
    if (event === "received" || event === "overdue")
      await officerNotices.send({ record: id, caseId, event }, { tx });
  },
});

export const officerNotifier = worker(officerNotices, {
  idempotencyKey: ({ record }) => record,
  timeout: "20s",
  async handle({ record, caseId, event }, { tx, signal }) {
    await tellOfficers({ caseId, event }, record, signal);
    await setNotified(tx, caseId);
  },
});

// The steps: what a step writes commits with the step.

const scoreRisk = task({
  input: ids,
  idempotent: true,
  timeout: "10s",
  async handle({ caseId }, { tx, database, signal }) {
    const [complaint] = await database.run<NewComplaint>(
      { name: "intake_score", text: "select complainant, subject from intake.complaint where case_id = $1" },
      [caseId],
    );
    const risk = await scoreOf(complaint!, signal); // no transaction is open while it takes its time
    await setRisk(tx, caseId, risk);
    await tell(tx, caseId, "scored", "scoring");
    return { risk };
  },
});

export const duplicateChecks = queue("duplicate-checks", {
  message: z.object({ caseId: z.string(), tokenReference: z.string() }),
  deadLetter,
});

/** Hands the question over; whoever answers shows the token. */
const askForDuplicates = task({
  input: ids,
  idempotent: true,
  handle: ({ caseId }, { tx, tokenReference }) =>
    duplicateChecks.send({ caseId, tokenReference: tokenReference! }, { tx }),
});

export const duplicateChecker = worker(duplicateChecks, {
  idempotencyKey: ({ tokenReference }) => tokenReference,
  timeout: "20s",
  async handle({ caseId, tokenReference }, { tx }) {
    const duplicates = await findDuplicates(tx, caseId);
    await answerTask(tx, { tokenReference, output: { duplicates: duplicates.length } });
    await setDuplicates(tx, caseId, duplicates);
    await tell(tx, caseId, "checked", "duplicate check");
  },
});

const askSupervisor = approval({
  input: ids,
  async request({ caseId }, { tx }) {
    const { subject, risk, duplicates } = (await findComplaint(tx, caseId))!;
    await setStatus(tx, caseId, "ESCALATED");
    await tell(tx, caseId, "escalated");
    return {
      subject: caseId,
      requestedBy: "intake",
      deciders: { roles: ["supervisor"] },
      evidence: { subject, risk, duplicates },
      due: "1d",
      escalation: { after: "2d", to: { roles: ["head-of-intake"] } },
      expires: "10d",
    };
  },
});

const openCase = task({
  input: ids,
  idempotent: true,
  async handle({ caseId }, { tx }) {
    await setStatus(tx, caseId, "OPEN");
    await tell(tx, caseId, "opened");
    return { status: "OPEN" };
  },
});

const dismissCase = task({
  input: ids,
  idempotent: true,
  async handle({ caseId }, { tx }) {
    await setStatus(tx, caseId, "DISMISSED");
    await tell(tx, caseId, "dismissed", "supervisor");
    return { status: "DISMISSED" };
  },
});

/** For a day and longer, ever more slowly: nobody waits for it but the case. */
const untilScored = [
  {
    errors: [ScoringDown, "States.Timeout"],
    interval: "1s",
    attempts: 1500,
    backoffRate: 1.5,
    intervalMax: "1m",
  },
] as const;

/** Row and execution begin in one commit, and no step ends without what it wrote: there is nothing to reconcile. */
const accepts = { "workflow-unreconciled": "row, execution and steps are each one commit" };

export const complaintIntake = workflow("ComplaintIntake", {
  accepts,
  definition: machine({ input: ids })
    .parallel("Assess", [
      (flow) => flow.task("Score risk", scoreRisk, { retry: untilScored }).end(),
      (flow) =>
        flow
          .callback("Check duplicates", askForDuplicates, {
            returns: shape<{ readonly duplicates: number }>(),
            timeout: "1d",
          })
          .end(),
    ])
    .pass("Assessed", ($) => ({ risk: $.input[0].risk }))
    .choice("High risk?")
    .when(
      ($) => gte($.input.risk, highRisk),
      (high) =>
        high
          .approval("Ask the supervisor", askSupervisor, { input: executionInput })
          .catch(["States.Timeout"], (late) =>
            late.pass("Nobody dismissed it", () => ({ decision: "APPROVED" as const })),
          )
          .choice("Pursue it?")
          .when(
            ($) => eq($.input.decision, "REJECTED"),
            (no) => no.task("Dismiss the case", dismissCase, { input: executionInput }).end("Dismissed"),
          )
          .otherwise(),
    )
    .otherwise()
    .task("Open the case", openCase, { input: executionInput })
    .end(),
});

/** A clock of its own: it goes on where the intake fails, and nobody has to remember to look. */
export const answerClock = workflow("AnswerClock", {
  accepts,
  definition: machine({ input: ids })
    .wait("Time to answer", answerWithin)
    .task(
      "Look whether it is decided",
      task({
        input: ids,
        idempotent: true,
        async handle({ caseId }, { tx }) {
          const isOverdue = await noteOverdue(tx, caseId);
          if (isOverdue) await tell(tx, caseId, "overdue", "clock");
          return { isOverdue };
        },
      }),
    )
    .end(),
});

/** Accepts a complaint: the case, its first record, its process and its clock are one commit. */
export async function accept(tx: Tx, caseId: string, complaint: NewComplaint): Promise<void> {
  await insertComplaint(tx, caseId, complaint);
  await tell(tx, caseId, "received", complaint.complainant);
  await complaintIntake.start({ caseId }, { name: caseId, tx });
  await answerClock.start({ caseId }, { name: caseId, tx });
}

export default app(
  {
    caseEvents,
    auditTrail,
    notifyOfficers,
    officerNotices,
    officerNotifier,
    duplicateChecks,
    duplicateChecker,
    complaintIntake,
    answerClock,
  },
  { migrations: { schema: "intake", folder: new URL("../migrations/", import.meta.url) } },
);
