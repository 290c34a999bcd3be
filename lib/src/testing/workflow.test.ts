// The case activation of the language's own example, as a document written for AWS, without a database.
import { expect, test } from "vitest";
import type { JsonObject } from "../asl/contract.ts";
import { testWorkflow, type Mock } from "./index.ts";

const invoke = "arn:aws:states:::lambda:invoke";
const retry = [
  { ErrorEquals: ["TransientDatabaseError"], IntervalSeconds: 1, MaxAttempts: 5, BackoffRate: 2 },
];

const activation: JsonObject = {
  StartAt: "Reserve",
  States: {
    Reserve: {
      Type: "Task",
      Resource: invoke,
      Parameters: { FunctionName: "ReserveCaseNumber", "Payload.$": "$" },
      ResultPath: "$.caseNumber",
      Retry: retry,
      Catch: [{ ErrorEquals: ["NoNumberAvailable"], Next: "EscalateNoCaseNumber" }],
      Next: "Approve",
    },
    Approve: {
      Type: "Task",
      Resource: `${invoke}.waitForTaskToken`,
      TimeoutSeconds: 604_800,
      Parameters: { FunctionName: "CreateApproval", Payload: { "token.$": "$$.Task.Token" } },
      ResultPath: "$.approval",
      Catch: [{ ErrorEquals: ["States.Timeout"], Next: "ExpireApproval" }],
      Next: "Decide",
    },
    Decide: {
      Type: "Choice",
      Choices: [{ Variable: "$.approval.decision", StringEquals: "APPROVED", Next: "Active" }],
      Default: "EscalateUnexpectedApprovalResult",
    },
    Active: { Type: "Succeed" },
    ExpireApproval: { Type: "Fail", Error: "ApprovalExpired" },
    EscalateNoCaseNumber: { Type: "Fail", Error: "NoCaseNumber" },
    EscalateUnexpectedApprovalResult: { Type: "Fail", Error: "UnexpectedApprovalResult" },
  },
};

class NoNumberAvailable extends Error {}

const run = async (mocks: Record<string, Mock>) => {
  const result = await testWorkflow(activation, { input: { caseId: "C1" }, mocks });
  return { ...result, path: result.path.map(({ state }) => state) };
};

const number: Mock = () => ({ caseNumber: "2026-1" });

test("P-03 retries wait as long as they say, and two days for a person pass at once", async () => {
  const busy = { fails: { error: "TransientDatabaseError" } };
  const result = await run({
    ReserveCaseNumber: [busy, busy, { returns: { caseNumber: "2026-1" } }],
    Approve: { after: "2d", returns: { decision: "APPROVED" } },
  });
  expect(result.path).toEqual(["Reserve", "Approve", "Decide", "Active"]);
  expect(result).toMatchObject({ status: "SUCCEEDED", durationMs: 1000 + 2000 + 2 * 86_400_000 });
});

test("P-04 an error is caught by its name", async () => {
  const none = () => {
    throw new NoNumberAvailable("none");
  };
  expect(await run({ ReserveCaseNumber: none })).toMatchObject({
    status: "FAILED",
    error: "NoCaseNumber",
    path: ["Reserve", "EscalateNoCaseNumber"],
  });
});

test("P-05 nobody answers for a week", async () => {
  const result = await run({ ReserveCaseNumber: number, Approve: { never: true } });
  expect(result).toMatchObject({ error: "ApprovalExpired", durationMs: 7 * 86_400_000 });
});

test("P-07 an unexpected decision goes to the default", async () => {
  const result = await run({ ReserveCaseNumber: number, Approve: () => ({ decision: "FOO" }) });
  expect(result.error).toBe("UnexpectedApprovalResult");
});

test("a task without a mock is named", async () => {
  await expect(run({})).rejects.toMatchObject({ code: "TUNTAS_WORKFLOW_MOCK" });
});
