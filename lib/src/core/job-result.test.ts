import { describe, expect, test } from "vitest";
import { concluded, exitCodeOf, jobResultSchema, meaningOf, wrongResult } from "./job-result.ts";

// The sample of the requirement, as it stands there.
const sample = {
  jobId: "job-20260706-001",
  status: "SUCCEEDED",
  startedAt: "2026-07-06T01:00:00Z",
  finishedAt: "2026-07-06T01:04:12Z",
  recordsRead: 100000,
  recordsWritten: 99980,
  recordsSkipped: 20,
  outputLocation: "s3://reports/result.json",
  warnings: ["20 records skipped due to invalid status"],
};

const end = (exitCode: number, account?: unknown) =>
  concluded({ jobId: "7", exitCode, startedAtMs: 0, finishedAtMs: 1500, account });

test("O-17 O-18 a document has its fields and its sums, and says what is wrong with it", () => {
  expect(wrongResult(sample)).toEqual([]);
  for (const name of jobResultSchema.required)
    expect(wrongResult({ ...sample, [name]: undefined }).join(), name).toContain(name);
  expect(wrongResult({ ...sample, recordsSkipped: 19 })).toEqual([
    "expected recordsRead (100000) to be written + skipped + failed (99980 + 19 + 0)",
  ]);
  expect(wrongResult({ ...sample, recordsWritten: 99979, recordsFailed: 1 })).toEqual([]);
  expect(wrongResult({ ...sample, warnings: [] })).toEqual([
    "expected a warning that says why 20 records were skipped",
  ]);
  for (const wrong of [
    { recordsRead: -1 },
    { recordsRead: 1.5 },
    { status: "DONE" },
    { startedAt: "yesterday" },
    { warnings: "none" },
  ])
    expect(wrongResult({ ...sample, ...wrong }), JSON.stringify(wrong)).not.toEqual([]);
  expect(wrongResult(null)).not.toEqual([]);
});

describe("O-19 the table of exit codes", () => {
  test.each([
    [0, "SUCCEEDED", "never"],
    [1, "FAILED", "backoff"],
    [2, "FAILED", "never"],
    [3, "PARTIAL", "never"],
    [4, "FAILED", "later"],
    [124, "TIMED_OUT", "person"],
    [137, "KILLED", "person"],
    [143, "STOPPED", "backoff"],
    [77, "FAILED", "person"],
  ])("%i is %s, and is tried again: %s", (code, status, retry) => {
    expect(meaningOf(code)).toMatchObject({ status, retry });
    expect(end(code, { recordsRead: 1, recordsWritten: 1 }).status).toBe(status);
  });

  test("a signal is 128 and its number", () => {
    expect([exitCodeOf(null, "SIGKILL"), exitCodeOf(null, "SIGTERM"), exitCodeOf(3, null)]).toEqual([
      137, 143, 3,
    ]);
  });
});

test("O-20 an exit code without a result, or with one that is wrong or says otherwise, is a failure", () => {
  expect(end(0)).toMatchObject({ status: "FAILED", exitCode: 0, warnings: ["missing result"] });
  expect(end(3).status).toBe("FAILED");
  expect(end(0, { recordsRead: 2, recordsWritten: 1 })).toMatchObject({
    status: "FAILED",
    recordsRead: 0,
    warnings: [expect.stringContaining("expected recordsRead (2)")],
  });
  expect(end(0, { ...sample, status: "FAILED" })).toMatchObject({
    status: "FAILED",
    warnings: ['the result says "FAILED", the exit code SUCCEEDED', ...sample.warnings],
  });
  expect(end(0, "all well").status).toBe("FAILED");
  // One that failed need not have got as far as its result.
  expect(end(1)).toMatchObject({ status: "FAILED", warnings: [] });
  const whole = end(0, sample);
  expect(whole).toMatchObject({
    status: "SUCCEEDED",
    finishedAt: "1970-01-01T00:00:01.500Z",
    warnings: sample.warnings,
  });
  expect(wrongResult(whole)).toEqual([]);
});
