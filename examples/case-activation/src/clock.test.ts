// What the clock does with a case: escalation, expiry, a receipt that never comes, a check that hangs.
import { afterEach, beforeEach, expect, test } from "vitest";
import { openHouse, type House } from "./house.fixture.ts";

let house: House;
beforeEach(async () => {
  house = await openHouse({ receipts: false });
});
afterEach(() => house[Symbol.asyncDispose]());

const dayMs = 86_400_000;
const reservations = async () =>
  (await house.query("select state from tuntas.reservation")).map(({ state }) => state);

test("P-44 H-09 nobody approves for a week: escalated after three days, then expired, the number free", async () => {
  const caseId = await house.open();
  await house.reaches(caseId, "NEEDS_APPROVAL");
  expect((await house.decide(caseId, "approve", "head-eva")).status).toBe(403);
  await house.kit.advance(3 * dayMs + 1000);
  const inbox = (await house.call("GET", "/approvals", undefined, "head-eva")).body as any[];
  expect(inbox).toMatchObject([{ subject: caseId, overdue: true, standing: "may sign" }]);
  await house.kit.advance(4 * dayMs);
  expect((await house.execution(caseId)).output).toMatchObject({ finalStatus: "EXPIRED" });
  expect(await reservations()).toEqual(["released"]);
  expect(await house.query("select status from tuntas.approval")).toEqual([{ status: "expired" }]);
});

test("a reservation made for half an hour outlives six days of thinking and a week of waiting for the receipt", async () => {
  const caseId = await house.open();
  await house.reaches(caseId, "NEEDS_APPROVAL");
  await house.kit.advance(6 * dayMs);
  await house.decide(caseId, "approve");
  await house.reaches(caseId, "NOTICE_SENT");
  await expect
    .poll(
      async () =>
        (await house.query("select token_reference is not null as waits from cases.notice"))[0].waits,
    )
    .toBe(true);
  await house.kit.advance(7 * dayMs);
  expect((await house.call("POST", `/receipts/NOTICE-${caseId}`)).status).toBe(200);
  expect((await house.call("POST", `/receipts/NOTICE-${caseId}`)).status).toBe(200);
  expect((await house.execution(caseId)).output).toMatchObject({ finalStatus: "ACTIVE" });
  expect(await reservations()).toEqual(["confirmed"]);
});

test("H-16 a receipt that never comes expires the case after two weeks", async () => {
  const caseId = await house.open();
  await house.reaches(caseId, "NEEDS_APPROVAL");
  await house.decide(caseId, "approve");
  await expect
    .poll(async () => (await house.query("select token_reference from cases.notice"))[0]?.token_reference)
    .toBeTruthy();
  await house.kit.advance(14 * dayMs + 1000);
  expect((await house.execution(caseId)).output).toMatchObject({ finalStatus: "EXPIRED" });
  expect(await reservations()).toEqual(["released"]);
});

test("H-13 a duplicate check that nobody ends goes to the supervisor as unknown", async () => {
  await house.query("alter table cases.duplicate_check add constraint hang check (status = 'PENDING')");
  const caseId = await house.open();
  await house.reaches(caseId, "JURISDICTION_VALIDATED");
  await expect.poll(() => house.query("select from cases.duplicate_check")).toHaveLength(1);
  await house.kit.advance(121_000);
  const shown = await house.reaches(caseId, "NEEDS_APPROVAL");
  expect(shown.history.map((each: any) => each.transition)).toContain("needReview");
});

test("P-33 a check that comes after its execution went on changes nothing, and its message is rejected", async () => {
  await house.query("alter table cases.duplicate_check add constraint hang check (status = 'PENDING')");
  const caseId = await house.open();
  await expect.poll(() => house.query("select from cases.duplicate_check")).toHaveLength(1);
  await house.kit.advance(121_000);
  await house.reaches(caseId, "NEEDS_APPROVAL");
  await house.query("alter table cases.duplicate_check drop constraint hang");
  await expect
    .poll(async () => {
      await house.kit.advance(30_000);
      return house.query("select code from tuntas.rejection");
    })
    .toEqual([{ code: "CHECK_LATE" }]);
  const { history } = await house.reaches(caseId, "NEEDS_APPROVAL");
  expect(history.map((each: any) => each.transition)).not.toContain("passDuplicateCheck");
});
