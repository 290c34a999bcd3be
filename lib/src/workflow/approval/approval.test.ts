// Approvals on a real PostgreSQL: a workflow asks, people decide, the clock escalates and expires.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { app, start, type RunningApp } from "../../app.ts";
import type { JsonObject } from "../../asl/contract.ts";
import { renew, reserve } from "../../ledger/index.ts";
import { statement } from "../../pg/database.ts";
import { testPlatform, type TestPlatform } from "../../testing/index.ts";
import { workflow } from "../declaration.ts";
import type { DecidedHook, InboxItem, Person } from "./contract.ts";
import { approval, type Question } from "./declaration.ts";

let kit: TestPlatform;
let running: RunningApp;
beforeEach(async () => {
  kit = await testPlatform();
});
afterEach(async () => {
  await running?.stop();
  await kit[Symbol.asyncDispose]();
});

const sql = (text: string, values: unknown[] = []) => kit.platform.database.run(statement(text), values);
const person = (name: string, ...roles: string[]): Person => ({ name, roles });
const [ben, eve, dan] = ["ben", "eve", "dan"].map((name) => person(name, "supervisor")) as [
  Person,
  Person,
  Person,
];

const definition: JsonObject = {
  StartAt: "Ask",
  States: {
    Ask: {
      Type: "Task",
      Resource: "arn:aws:states:::lambda:invoke.waitForTaskToken",
      TimeoutSeconds: 604_800,
      Parameters: { FunctionName: "ask", Payload: { "caseId.$": "$.caseId" } },
      Catch: [{ ErrorEquals: ["States.Timeout"], ResultPath: "$.error", Next: "Expired" }],
      Next: "Decided",
    },
    Decided: { Type: "Pass", End: true },
    Expired: { Type: "Pass", Result: "EXPIRED", End: true },
  },
};

const question: Question = {
  subject: "CASE-1",
  requestedBy: "ana",
  deciders: { roles: ["supervisor"], people: ["zoe"], groups: ["board"] },
  evidence: { amount: 12 },
  due: "2d",
  escalation: { after: "3d", to: { roles: ["head"] } },
  expires: "7d",
};

/** Starts an execution that asks, and waits until its request stands. */
async function asked(given: Partial<Question> = {}, decided?: DecidedHook) {
  const ask = approval({
    request: () => ({ ...question, ...given }),
    ...(decided && { decided }),
  });
  const asking = workflow("asking", { definition, tasks: { ask } });
  running = await start(app({ asking }), { platform: kit.platform });
  const { arn } = await asking.start({ caseId: "CASE-1" });
  await expect.poll(() => kit.platform.workflows.approvals.list()).toHaveLength(1);
  const [request] = await kit.platform.workflows.approvals.list();
  return { arn, id: request!.id, request: request! };
}

async function output(arn: string): Promise<unknown> {
  const { executions } = kit.platform.workflows;
  await expect.poll(async () => (await executions.find(arn))!.status).not.toBe("RUNNING");
  const { output: text, error } = (await executions.find(arn))!;
  return text === null ? error : JSON.parse(text);
}

const approvals = () => kit.platform.workflows.approvals;
const yes = (id: string, by: Person) => approvals().decide(id, { by, decision: "approve", reason: "fine" });
const no = (id: string, by: Person) => approvals().decide(id, { by, decision: "reject", reason: "bad" });
const auditOf = async (id: string) =>
  (await sql("select actor, action from tuntas.audit where subject = $1 order by id", [id])).map(
    ({ actor, action }) => `${actor} ${action}`,
  );

describe("a request", () => {
  test("H-05 H-14 shows what it is about, who may decide and until when, and no token", async () => {
    const { arn, request } = await asked();
    expect(request).toMatchObject({
      workflow: "asking",
      task: "Ask",
      executionArn: arn,
      subject: "CASE-1",
      requestedBy: "ana",
      evidence: { amount: 12 },
      status: "pending",
      waiting: true,
      overdue: false,
      signaturesNeeded: 1,
      signaturesMissing: 1,
      guarded: false,
    } satisfies Partial<InboxItem>);
    expect(request.deciders.map(({ kind, name, active }) => `${kind} ${name} ${active}`).toSorted()).toEqual([
      "group board true",
      "person zoe true",
      "role head false",
      "role supervisor true",
    ]);
    const [kept] = await sql("select token_reference from tuntas.approval");
    const [call] = await sql("select token_hash from tuntas.workflow_call");
    const token = kit.platform.workflows.tokenOf(kept!.token_reference);
    expect(JSON.stringify(await sql("select * from tuntas.approval"))).not.toContain(token);
    expect(call!.token_hash).toBeTruthy();
  });

  test("is in the inbox of those who may sign it, and of nobody else", async () => {
    const { id } = await asked();
    const inbox = async (of: Person) => (await approvals().list({ for: of })).map((item) => item.standing);
    expect(await inbox(ben)).toEqual(["may sign"]);
    expect(await inbox(person("zoe"))).toEqual(["may sign"]);
    expect(await inbox({ name: "gus", groups: ["board"] })).toEqual(["may sign"]);
    expect(await inbox(person("ana", "supervisor"))).toEqual([]);
    expect(await inbox(person("hal", "head"))).toEqual([]);
    expect((await approvals().show(id, person("ana", "supervisor")))!.standing).toBe("requester");
    expect((await approvals().show(id, person("hal", "head")))!.standing).toBe("not a decider");
    expect(await approvals().show("no-such-id")).toBeUndefined();
  });

  test("that nobody could ever decide is refused when it is made", async () => {
    const ask = approval({
      request: () => ({ ...question, deciders: { people: ["ana"] }, escalation: undefined as never }),
    });
    const asking = workflow("asking", { definition, tasks: { ask } });
    running = await start(app({ asking }), { platform: kit.platform });
    const { arn } = await asking.start({ caseId: "CASE-1" });
    expect(await output(arn)).toBe("TUNTAS_APPROVAL_INVALID");
    expect(await approvals().list({ status: "any" })).toEqual([]);
  });
});

describe("a decision", () => {
  test("H-06 H-07 H-17 resumes the execution with what was decided, after the commit, and is on record", async () => {
    const { arn, id } = await asked();
    const answer = await yes(id, ben);
    expect(answer).toMatchObject({
      status: "decided",
      approval: { status: "approved", signaturesMissing: 0 },
    });
    expect(await output(arn)).toMatchObject({
      approvalId: id,
      decision: "APPROVED",
      decidedBy: ["ben"],
      reason: "fine",
    });
    await expect.poll(async () => (await approvals().show(id))!.toldAtMs).not.toBeNull();
    expect(await auditOf(id)).toEqual(["ben approval.approved"]);
  });

  test("H-11 one no is enough, and what was held is given back", async () => {
    const reserved = await kit.platform.database.transaction((tx) =>
      reserve(tx, { kind: "number", resource: "7", holder: "CASE-1", expiresIn: "30m" }),
    );
    const reservation = reserved.status === "conflict" ? "" : reserved.reservation.id;
    const { arn, id } = await asked({ signatures: 2, holds: [reservation] });
    const [held] = await sql(
      "select expires_at > tuntas.now() + interval '7 days' as long from tuntas.reservation",
    );
    expect(held).toEqual({ long: true });
    await no(id, ben);
    expect(await output(arn)).toMatchObject({ decision: "REJECTED", decidedBy: ["ben"] });
    expect(await sql("select state from tuntas.reservation")).toEqual([{ state: "released" }]);
    await expect(renew(kit.platform.database, reservation, "1m")).rejects.toMatchObject({
      code: "TUNTAS_RESERVATION_STATE",
    });
  });

  test("four eyes: two different people, never the one who asked", async () => {
    const { arn, id } = await asked({ signatures: 2 });
    await expect(yes(id, person("ana", "supervisor"))).rejects.toMatchObject({ code: "TUNTAS_APPROVAL_OWN" });
    await expect(yes(id, person("hal", "head"))).rejects.toMatchObject({ code: "TUNTAS_APPROVAL_DENIED" });
    expect(await yes(id, ben)).toMatchObject({
      status: "signed",
      approval: { status: "pending", signaturesMissing: 1 },
    });
    expect(await yes(id, ben)).toMatchObject({ status: "duplicate" });
    await expect(no(id, ben)).rejects.toMatchObject({ code: "TUNTAS_APPROVAL_SIGNED" });
    expect((await approvals().list({ for: ben })).length).toBe(0);
    expect(await yes(id, eve)).toMatchObject({ status: "decided" });
    expect(await output(arn)).toMatchObject({ decision: "APPROVED", decidedBy: ["ben", "eve"] });
    expect(await auditOf(id)).toEqual(["ben approval.sign", "eve approval.approved"]);
  });

  test("H-08 is taken once: the same word again gets the same answer, another is refused", async () => {
    const { id } = await asked();
    await yes(id, ben);
    expect(await yes(id, ben)).toMatchObject({ status: "duplicate", approval: { status: "approved" } });
    await expect(no(id, eve)).rejects.toMatchObject({
      code: "TUNTAS_APPROVAL_OVER",
      details: { status: "approved", signatures: [{ name: "ben" }] },
    });
    expect(await sql("select count(*)::int as n from tuntas.approval_signature")).toEqual([{ n: 1 }]);
  });

  test("two at the same moment: one decides, the other is refused", async () => {
    const { id } = await asked();
    const answers = await Promise.allSettled([yes(id, ben), no(id, eve), yes(id, dan)]);
    expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const answer of answers)
      if (answer.status === "rejected") expect(answer.reason.code).toBe("TUNTAS_APPROVAL_OVER");
  });

  test("H-10 an unknown word is no decision", async () => {
    const { id } = await asked();
    await expect(
      approvals().decide(id, { by: ben, decision: "maybe" as never, reason: "hm" }),
    ).rejects.toMatchObject({ code: "TUNTAS_APPROVAL_INVALID" });
    await expect(approvals().decide(id, { by: ben, decision: "approve", reason: " " })).rejects.toMatchObject(
      {
        code: "TUNTAS_APPROVAL_INVALID",
      },
    );
    expect((await approvals().show(id))!.status).toBe("pending");
  });

  test("H-06 the domain's change is in the same commit: where it fails, nothing was decided", async () => {
    await sql("create table tuntas.domain (status text)");
    let fails = true;
    const { arn, id } = await asked({}, async (tx, { approval: { subject }, status }) => {
      await tx.query(`insert into ${kit.schema}.domain values ($1)`, [`${subject} ${status}`]);
      if (fails) throw new Error("the domain says no");
    });
    await expect(yes(id, ben)).rejects.toThrow("the domain says no");
    expect(await sql("select * from tuntas.domain")).toEqual([]);
    expect((await approvals().show(id))!).toMatchObject({ status: "pending", signatures: [] });
    fails = false;
    await yes(id, ben);
    expect(await sql("select * from tuntas.domain")).toEqual([{ status: "CASE-1 approved" }]);
    expect(await output(arn)).toMatchObject({ decision: "APPROVED" });
  });

  test("of a guarded request is refused where the application does not run", async () => {
    const { id } = await asked({}, () => undefined);
    const elsewhere = await kit.another();
    await expect(
      elsewhere.workflows.approvals.decide(id, { by: ben, decision: "approve", reason: "fine" }),
    ).rejects.toMatchObject({ code: "TUNTAS_APPROVAL_ELSEWHERE" });
    expect((await approvals().show(id))!.signatures).toEqual([]);
  });

  test("in a transaction of the caller's leaves with its commit only, and stops the task's clock with it", async () => {
    const { arn, id } = await asked();
    const client = await kit.platform.database.handlerClient();
    const { inSchema } = await import("../../pg/join.ts");
    const tx = inSchema(client, kit.schema);
    await client.query("begin");
    await approvals().decide(id, { by: ben, decision: "approve", reason: "fine", tx });
    const clocks = `select count(*)::int as n from ${kit.schema}.workflow_due`;
    expect((await client.query(clocks)).rows).toEqual([{ n: 0 }]);
    await client.query("rollback");
    expect((await client.query(clocks)).rows).toEqual([{ n: 1 }]);
    expect((await approvals().show(id))!.status).toBe("pending");
    await client.query("begin");
    await approvals().decide(id, { by: eve, decision: "approve", reason: "fine", tx });
    await client.query("commit");
    client.release();
    expect(await output(arn)).toMatchObject({ decidedBy: ["eve"] });
  });

  test("is late once the execution does not wait", async () => {
    const { arn, id } = await asked();
    const { executions } = kit.platform.workflows;
    await executions.stop((await executions.find(arn))!, {});
    expect((await approvals().show(id))!.waiting).toBe(false);
    expect(await approvals().list({ for: ben })).toEqual([]);
    await expect(yes(id, ben)).rejects.toMatchObject({ code: "TUNTAS_APPROVAL_LATE" });
    expect((await approvals().show(id))!.signatures).toEqual([]);
  });
});

describe("the clock", () => {
  test("escalates once, and then those decide who could not before", async () => {
    const { arn, id } = await asked({ notify: { kind: "function", name: "mail" } });
    const hal = person("hal", "head");
    await kit.advance(2 * 86_400_000 + 1000);
    expect(await approvals().list({ overdue: true })).toHaveLength(1);
    await expect(yes(id, hal)).rejects.toMatchObject({ code: "TUNTAS_APPROVAL_DENIED" });
    await kit.advance(86_400_000);
    expect((await approvals().show(id))!.escalatedAtMs).not.toBeNull();
    const told = await sql("select type from tuntas.outbox where target_name = 'mail' order by id");
    expect(told.map(({ type }) => type)).toEqual(["ApprovalRequested", "ApprovalEscalated"]);
    await yes(id, hal);
    expect(await output(arn)).toMatchObject({ decidedBy: ["hal"] });
    expect(await auditOf(id)).toEqual(["the clock approval.escalate", "hal approval.approved"]);
  });

  test("H-09 P-44 expires what nobody decided: the execution times out, what was held is free", async () => {
    const reserved = await kit.platform.database.transaction((tx) =>
      reserve(tx, { kind: "number", resource: "7", holder: "CASE-1", expiresIn: "30m" }),
    );
    const reservation = reserved.status === "conflict" ? "" : reserved.reservation.id;
    const { arn, id } = await asked({ expires: "5d", holds: [reservation] });
    await kit.advance(5 * 86_400_000 + 1000);
    expect(await output(arn)).toBe("EXPIRED");
    expect((await approvals().show(id))!.status).toBe("expired");
    expect(await sql("select state from tuntas.reservation")).toEqual([{ state: "released" }]);
    await expect(yes(id, ben)).rejects.toMatchObject({ code: "TUNTAS_APPROVAL_OVER" });
    expect(await auditOf(id)).toEqual(["the clock approval.expired"]);
  });

  test("never lets a request outlive its task's timeout", async () => {
    const { request } = await asked({ expires: "30d" });
    expect(request.expiresAtMs - request.requestedAtMs).toBeLessThanOrEqual(604_800_000);
  });
});

describe("acts of people", () => {
  test("who delegates has no say any more; the delegate has, once", async () => {
    const { arn, id } = await asked({ signatures: 2 });
    await expect(approvals().delegate(id, { by: ben, to: "ana", reason: "leave" })).rejects.toMatchObject({
      code: "TUNTAS_APPROVAL_OWN",
    });
    await approvals().delegate(id, { by: ben, to: "kim", reason: "leave" });
    await expect(yes(id, ben)).rejects.toMatchObject({ code: "TUNTAS_APPROVAL_DENIED" });
    await expect(
      approvals().delegate(id, { by: person("kim"), to: "ben", reason: "back" }),
    ).rejects.toMatchObject({ code: "TUNTAS_APPROVAL_SIGNED" });
    await yes(id, person("kim"));
    await yes(id, eve);
    expect(await output(arn)).toMatchObject({ decidedBy: ["kim", "eve"] });
    expect(await auditOf(id)).toEqual([
      "ben approval.delegate",
      "kim approval.sign",
      "eve approval.approved",
    ]);
  });

  test("an early escalation lets the head decide now", async () => {
    const { id } = await asked();
    await approvals().escalate(id, { by: ben, reason: "urgent" });
    await approvals().escalate(id, { by: ben, reason: "urgent" });
    expect(await yes(id, person("hal", "head"))).toMatchObject({ status: "decided" });
    expect(await auditOf(id)).toEqual(["ben approval.escalate", "hal approval.approved"]);
  });

  test("what is withdrawn fails its task, and cannot be decided", async () => {
    const { arn, id } = await asked();
    await approvals().withdraw(id, { by: person("ana"), reason: "opened twice" });
    expect(await output(arn)).toBe("ApprovalWithdrawn");
    await expect(yes(id, ben)).rejects.toMatchObject({ code: "TUNTAS_APPROVAL_OVER" });
  });
});
