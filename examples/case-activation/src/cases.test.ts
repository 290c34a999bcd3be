// A case from its acceptance to its end, through every path, on the real engine.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openHouse, type House } from "./house.fixture.ts";

let house: House;
beforeAll(async () => {
  house = await openHouse();
});
afterAll(() => house[Symbol.asyncDispose]());

const reservationOf = async (caseId: string) =>
  (
    await house.query(
      "select r.state from tuntas.reservation r join cases.cases c on c.reservation_id = r.id where c.case_id = $1",
      [caseId],
    )
  ).map(({ state }) => state);
const waitsAt = async (caseId: string, status: string) => house.reaches(caseId, status);
const transitionsOf = ({ history }: { history: { transition: string }[] }) =>
  history.map(({ transition }) => transition);

describe("E-11 a case", () => {
  test("P-21 V-13 G-31 goes through its nine steps to ACTIVE, each once, with number, notice and receipt", async () => {
    const caseId = await house.open();
    await waitsAt(caseId, "NEEDS_APPROVAL");
    expect((await house.decide(caseId, "approve")).body).toMatchObject({
      status: "decided",
      approval: "approved",
    });
    const end = await house.execution(caseId);
    expect(end.status).toBe("SUCCEEDED");
    expect(end.output).toEqual({
      caseId,
      finalStatus: "ACTIVE",
      completedAt: expect.any(String),
      summary: {
        caseNumber: expect.stringMatching(/^ENF-\d{4}-\d{6}$/),
        noticeId: `NOTICE-${caseId}`,
        deliveryStatus: "ACKNOWLEDGED",
      },
    });
    const shown = await house.reaches(caseId, "ACTIVE");
    expect(transitionsOf(shown)).toEqual([
      "create",
      "reserveNumber",
      "validateJurisdiction",
      "passDuplicateCheck",
      "requestApproval",
      "approve",
      "generateNotice",
      "sendNotice",
      "activate",
    ]);
    // One row of the audit and, after the commit, one line of the log for each.
    expect(shown.history[1]).toMatchObject({
      transition: "reserveNumber",
      from: "DRAFT",
      to: "NUMBER_RESERVED",
      actor: "CaseActivation ReserveCaseNumber",
      at: expect.any(String),
    });
    const steps = house.log.filter((line) => line.event === "workflow.step" && line.caseId === caseId);
    expect(steps.map(({ toStatus }) => toStatus)).toContain("NOTICE_SENT");
    expect(steps[0]).toMatchObject({
      level: 30,
      msg: "ReserveCaseNumber succeeded",
      workflowName: "CaseActivation",
      executionId: end.arn,
      stateName: "ReserveCaseNumber",
      commandId: expect.any(String),
      fromStatus: "DRAFT",
      toStatus: "NUMBER_RESERVED",
      idempotencyKey: expect.stringContaining("ReserveCaseNumber"),
      correlationId: expect.any(String),
      durationMs: expect.any(Number),
    });
    expect(shown.notice).toEqual({ noticeId: `NOTICE-${caseId}`, deliveryStatus: "ACKNOWLEDGED" });
    expect(await reservationOf(caseId)).toEqual(["confirmed"]);
    const letters = await house.query("select posts from post.letter where key = $1", [`NOTICE-${caseId}`]);
    expect(letters).toEqual([{ posts: 1 }]);
    const [effect] = await house.query(
      "select state, calls, caller from tuntas.side_effect where subject = $1",
      [caseId],
    );
    expect(effect).toEqual({ state: "succeeded", calls: 1, caller: end.arn });
  });

  test("P-19 carries ids only, and is accepted before it exists", async () => {
    const { body } = await house.call("POST", "/cases", {
      tenantId: "t1",
      partyName: "Secret Party",
      jurisdiction: "XX",
    });
    expect(body).toMatchObject({
      status: "ACCEPTED",
      executionName: expect.stringContaining(`CaseActivation-t1-${body.caseId}-cmd-`),
    });
    const { arn } = await house.execution(body.caseId);
    const texts = await house.query(
      "select e.input || coalesce(e.output, '') || string_agg(h.events, '') as text from tuntas.execution e join tuntas.execution_history h on h.execution_id = e.id where e.arn = $1 group by e.id",
      [arn],
    );
    expect(texts[0].text).not.toContain("Secret Party");
    expect(texts[0].text).not.toMatch(/"taskToken"/);
  });

  test("of a foreign jurisdiction is cancelled, and its number given back", async () => {
    const caseId = await house.open({ jurisdiction: "XX" });
    expect((await house.execution(caseId)).output).toMatchObject({ finalStatus: "CANCELLED" });
    expect(await reservationOf(caseId)).toEqual(["released"]);
  });

  test("H-11 that is rejected is cancelled, and its number given back", async () => {
    const caseId = await house.open();
    await waitsAt(caseId, "NEEDS_APPROVAL");
    expect(await reservationOf(caseId)).toEqual(["reserved"]);
    await house.decide(caseId, "reject");
    expect((await house.execution(caseId)).output).toMatchObject({ finalStatus: "CANCELLED" });
    const shown = await house.reaches(caseId, "CANCELLED");
    expect(transitionsOf(shown).slice(-2)).toEqual(["reject", "cancel"]);
    expect(shown.caseNumber).toBeNull();
    expect(await reservationOf(caseId)).toEqual(["released"]);
  });

  test("four eyes: a grave case needs two supervisors, and nobody signs what they asked for", async () => {
    const caseId = await house.open({ severity: "high" });
    await waitsAt(caseId, "NEEDS_APPROVAL");
    const inbox = (await house.call("GET", "/approvals", undefined, "sup-eve")).body as any[];
    expect(inbox.find(({ subject }) => subject === caseId)).toMatchObject({
      standing: "may sign",
      signaturesMissing: 2,
      evidence: { severity: "high", duplicates: [] },
    });
    expect((await house.decide(caseId, "approve", "ana")).status).toBe(403);
    expect((await house.decide(caseId, "approve", "sup-ben")).body).toMatchObject({
      status: "signed",
      signaturesMissing: 1,
    });
    expect((await house.decide(caseId, "reject", "sup-ben")).status).toBe(409);
    expect((await house.reaches(caseId, "NEEDS_APPROVAL")).status).toBe("NEEDS_APPROVAL");
    expect((await house.decide(caseId, "approve", "sup-eve")).body).toMatchObject({ status: "decided" });
    expect((await house.execution(caseId)).output).toMatchObject({ finalStatus: "ACTIVE" });
  });

  test("H-12 that may be a duplicate says so to the supervisor", async () => {
    const first = await house.open({ partyName: "Twin" });
    await waitsAt(first, "NEEDS_APPROVAL");
    const second = await house.open({ partyName: "TWIN" });
    const shown = await waitsAt(second, "NEEDS_APPROVAL");
    expect(transitionsOf(shown)).toContain("needReview");
    const [{ evidence }] = await house.query("select evidence from tuntas.approval where subject = $1", [
      second,
    ]);
    expect(JSON.parse(evidence).duplicates).toEqual([first]);
  });

  test("P-17 that is cancelled while it waits for its approval ends: request withdrawn, number given back", async () => {
    const caseId = await house.open();
    await waitsAt(caseId, "NEEDS_APPROVAL");
    expect((await house.call("POST", `/cases/${caseId}/cancel`, { reason: "opened twice" })).status).toBe(
      204,
    );
    expect((await house.execution(caseId)).output).toMatchObject({ finalStatus: "CANCELLED" });
    expect(await house.query("select status from tuntas.approval where subject = $1", [caseId])).toEqual([
      { status: "withdrawn" },
    ]);
    expect(await reservationOf(caseId)).toEqual(["released"]);
    expect((await house.call("POST", `/cases/${caseId}/cancel`, { reason: "again" })).status).toBe(204);
  });

  /** Holds the transactions that insert into the table at their commit, until it is called again. */
  async function holdCommits(table: string): Promise<() => Promise<void>> {
    await house.query(`create function cases.hold() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock_shared(42); return null; end $$`);
    await house.query(`create constraint trigger hold after insert or update on ${table} deferrable initially deferred
      for each row execute function cases.hold()`);
    await house.query("select pg_advisory_lock(42)");
    return async () => {
      await house.query("select pg_advisory_unlock(42)");
      await house.query("drop function cases.hold cascade");
    };
  }
  const areBlocked = (count: number) =>
    expect
      .poll(() =>
        house.query(
          "select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
        ),
      )
      .toHaveLength(count);

  test("P-17 that is cancelled in the moment in which its step asks for an approval ends all the same", async () => {
    const letGo = await holdCommits("tuntas.approval");
    const caseId = await house.open();
    await areBlocked(1);
    const cancelling = house.call("POST", `/cases/${caseId}/cancel`, { reason: "opened twice" });
    await areBlocked(2);
    await letGo();
    expect((await cancelling).status).toBe(204);
    expect((await house.execution(caseId)).output).toMatchObject({ finalStatus: "CANCELLED" });
    expect(await house.query("select status from tuntas.approval where subject = $1", [caseId])).toEqual([
      { status: "withdrawn" },
    ]);
    expect(await reservationOf(caseId)).toEqual(["released"]);
  });

  test("P-11 is known to its own tables alone: with all of the engine's history gone its status is there", async () => {
    const caseId = await house.open();
    await waitsAt(caseId, "NEEDS_APPROVAL");
    await house.decide(caseId, "approve");
    const { arn } = await house.execution(caseId);
    const own = "(select id from tuntas.execution where arn = $1)";
    await house.query(`delete from tuntas.execution_history where execution_id = ${own}`, [arn]);
    await house.query(`delete from tuntas.execution_state where execution_id = ${own}`, [arn]);
    await house.query("delete from tuntas.execution where arn = $1", [arn]);
    const shown = (await house.call("GET", `/cases/${caseId}`)).body;
    expect(shown).toMatchObject({ status: "ACTIVE", notice: { deliveryStatus: "ACKNOWLEDGED" } });
    expect(transitionsOf(shown).at(-1)).toBe("activate");
  });

  test("P-20 is read from its row in each step: what was changed meanwhile is what the next step sees", async () => {
    const caseId = await house.open();
    await waitsAt(caseId, "NEEDS_APPROVAL");
    await house.query("update cases.cases set case_number = 'ENF-2026-CHANGED' where case_id = $1", [caseId]);
    await house.decide(caseId, "approve");
    expect((await house.execution(caseId)).output.summary.caseNumber).toBe("ENF-2026-CHANGED");
  });

  test("is not found, or badly asked for, with a coded problem", async () => {
    expect((await house.call("GET", "/cases/none")).status).toBe(404);
    expect(
      (await house.call("POST", "/cases", { tenantId: "t-1", partyName: "", jurisdiction: "ID-JK" })).status,
    ).toBe(400);
    expect((await house.call("POST", "/receipts/none")).status).toBe(404);
    const id = "00000000-0000-4000-8000-000000000000";
    const given = { decision: "approve", reason: "x" };
    expect((await house.call("POST", `/approvals/${id}/decision`, given, "sup-ben")).status).toBe(404);
  });
});
