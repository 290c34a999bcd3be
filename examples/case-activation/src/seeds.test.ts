// P-02: the two documents as they stand, on the real engine with this application's handlers.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { answerTask } from "tuntas/workflow";
import { openHouse, type House } from "./house.fixture.ts";
import seeds, { duplicateCheckSeed, shortActivationSeed } from "./seeds.fixture.ts";

let house: House;
beforeEach(async () => {
  house = await openHouse({ app: seeds });
});
afterEach(() => house[Symbol.asyncDispose]());

const caseId = "CASE-2026-0001";

async function makeCase(given: { status: string; jurisdiction?: string; partyName?: string; id?: string }) {
  await house.query(
    `insert into cases.cases (case_id, tenant_id, party_name, jurisdiction, severity, requested_by, correlation_id, execution_arn, status)
     values ($1, 'agency-a', $2, $3, 'normal', 'user-123', 'corr-abc', 'none', $4)`,
    [given.id ?? caseId, given.partyName ?? "Party", given.jurisdiction ?? "ID-JK", given.status],
  );
}

interface Ended {
  readonly status: string;
  readonly output: any;
  readonly error: string | null;
  readonly states: readonly string[];
}

/** Waits for the end, and tells which states it came through. */
async function ended(arn: string): Promise<Ended> {
  const { executions } = house.kit.platform.workflows;
  await expect.poll(async () => (await executions.find(arn))!.status).not.toBe("RUNNING");
  const found = (await executions.find(arn))!;
  const history = (await executions.history(found)) as any[];
  const states = history.flatMap((event) => event.stateEnteredEventDetails?.name ?? []);
  return {
    status: found.status,
    output: found.output === null ? null : JSON.parse(found.output),
    error: found.error ?? null,
    states,
  };
}

const waits = async (table: string) => expect.poll(() => house.query(`select from ${table}`)).toHaveLength(1);

describe("the duplicate check (003 §8)", () => {
  const run = async () => (await duplicateCheckSeed.start({ caseId })).arn;

  test("H-15 goes on where the check is clear: job first, then the callback", async () => {
    await makeCase({ status: "JURISDICTION_VALIDATED" });
    const end = await ended(await run());
    expect(end).toMatchObject({
      status: "SUCCEEDED",
      states: ["StartDuplicateCheck", "EvaluateDuplicateCheck", "ContinueActivation"],
      output: { caseId, duplicateCheckResult: { status: "CLEAR" } },
    });
    expect(await house.query("select status from cases.duplicate_check")).toEqual([{ status: "CLEAR" }]);
  });

  test("H-12 goes to manual review where it may be a duplicate, or where nobody can tell", async () => {
    await makeCase({ status: "ACTIVE", id: "CASE-0", partyName: "Party" });
    await makeCase({ status: "JURISDICTION_VALIDATED" });
    expect((await ended(await run())).states.at(-1)).toBe("EscalateManualReview");
  });

  test("P-07 goes to manual review on a word that it does not know", async () => {
    const { arn, reference } = await hanging();
    await answer(reference, { duplicateCheckResult: { status: "FOO" } });
    expect((await ended(arn)).states.at(-1)).toBe("EscalateManualReview");
  });

  test("P-05 H-04 H-13 escalates where no heartbeat comes for 120 s", async () => {
    const { arn } = await hanging();
    await house.kit.advance(121_000);
    expect(await ended(arn)).toMatchObject({
      status: "FAILED",
      states: ["StartDuplicateCheck", "EscalateDuplicateCheckTimeout"],
    });
  });

  test("H-13 escalates after 1800 s however often a heartbeat comes", async () => {
    const { arn, reference } = await hanging();
    const { activities, tokenOf } = house.kit.platform.workflows;
    for (let passed = 0; passed < 1800; passed += 100) {
      expect((await activities.heartbeat(tokenOf(reference))).status).toBe("accepted");
      await house.kit.advance(100_000);
    }
    expect((await ended(arn)).states.at(-1)).toBe("EscalateDuplicateCheckTimeout");
  });

  /** An execution whose check never ends: the worker's write is refused. */
  async function hanging() {
    await house.query("alter table cases.duplicate_check add constraint hang check (status = 'PENDING')");
    await makeCase({ status: "JURISDICTION_VALIDATED" });
    const arn = await run();
    await waits("cases.duplicate_check");
    const [{ token_reference: reference }] = await house.query(
      "select token_reference from cases.duplicate_check",
    );
    return { arn, reference: reference as string };
  }
});

const answer = (tokenReference: string, output: object) =>
  house.kit.platform.database.transaction((tx) => answerTask(tx, { tokenReference, output }));

describe("case activation (003 §25)", () => {
  const start = async () => (await shortActivationSeed.start({ caseId })).arn;

  async function asking() {
    await makeCase({ status: "DRAFT" });
    const arn = await start();
    await waits("tuntas.approval");
    return arn;
  }
  const reservations = async () =>
    (await house.query("select state from tuntas.reservation")).map(({ state }) => state);

  test("P-02 P-06 approved: active, the number confirmed, each step's result at its path", async () => {
    const arn = await asking();
    await house.decide(caseId, "approve");
    const end = await ended(arn);
    expect(end.status).toBe("SUCCEEDED");
    expect(end.states).toEqual([
      "ValidateCommand",
      "ReserveCaseNumber",
      "WaitForSupervisorApproval",
      "ApprovalDecision",
      "MarkCaseActive",
    ]);
    expect(end.output.Payload).toEqual({ caseId, finalStatus: "ACTIVE" });
    expect(await reservations()).toEqual(["confirmed"]);
  });

  test("H-11 rejected: the document only succeeds, the request gives the number back", async () => {
    const arn = await asking();
    await house.decide(caseId, "reject");
    const end = await ended(arn);
    expect(end.states.at(-1)).toBe("CancelCase");
    expect(end.output).toMatchObject({
      caseId,
      validation: { Payload: { valid: true }, StatusCode: 200 },
      caseNumber: { Payload: { caseNumber: expect.stringMatching(/^ENF-/) } },
      approval: { decision: "REJECTED" },
    });
    expect(await reservations()).toEqual(["released"]);
    expect(await house.query("select status from cases.cases")).toEqual([{ status: "REJECTED" }]);
  });

  test("H-09 P-44 nobody decides for 604800 s: expired, the number free", async () => {
    const arn = await asking();
    await house.kit.advance(604_801_000);
    expect(await ended(arn)).toMatchObject({
      status: "FAILED",
      states: expect.arrayContaining(["ExpireApprovalRequest"]),
    });
    await expect
      .poll(() => house.query("select status from tuntas.approval"))
      .toEqual([{ status: "expired" }]);
    expect(await reservations()).toEqual(["released"]);
  });

  test("P-04 no number to be had: escalated, nothing reserved", async () => {
    await makeCase({ status: "DRAFT", jurisdiction: "FULL" });
    expect((await ended(await start())).states.at(-1)).toBe("EscalateNoCaseNumber");
    expect(await reservations()).toEqual([]);
  });

  test("P-07 H-10 a decision that is neither word is escalated, never read as a no", async () => {
    const arn = await asking();
    const [{ token_reference: reference }] = await house.query("select token_reference from tuntas.approval");
    await answer(reference, { decision: "MAYBE" });
    expect((await ended(arn)).states.at(-1)).toBe("EscalateUnexpectedApprovalResult");
    expect((await house.decide(caseId, "approve")).status).toBe(409);
  });
});
