import { expect, test } from "vitest";
import { wrongResult } from "../core/job-result.ts";
import type { RunReport } from "./backfill/contract.ts";
import { runResult } from "./backfill/result.ts";
import type { JobReport } from "./contract.ts";
import { jobResult } from "./result.ts";

const job = (more: Partial<JobReport>) =>
  jobResult({
    id: "4",
    rows: 30,
    manifest: null,
    failure: null,
    begunAtMs: 0,
    endedAtMs: 1000,
    ...more,
  } as JobReport);
const run = (more: Partial<RunReport>) =>
  runResult({
    id: "9",
    handled: 6,
    final: 3,
    failed: 0,
    failure: null,
    begunAtMs: 0,
    endedAtMs: 1000,
    ...more,
  } as RunReport);

test("O-17 O-18 a job of a batch and a run of a backfill leave the same document, whose sums are right however they ended", () => {
  const manifest = { partitions: 3, rows: 30, hash: "h", promotedAtMs: 900 };
  const all = [
    [job({ state: "completed", manifest }), "SUCCEEDED", [30, 30, 0, 0]],
    [job({ state: "failed", failure: "2 failed" }), "FAILED", [30, 0, 30, 0]],
    [job({ state: "cancelled" }), "STOPPED", [30, 0, 30, 0]],
    [run({ state: "completed" }), "SUCCEEDED", [9, 6, 3, 0]],
    [run({ state: "completed", failed: 1 }), "PARTIAL", [10, 6, 3, 1]],
    [run({ state: "aborted", failure: "TUNTAS_BACKFILL_ERRORS: too many" }), "FAILED", [9, 6, 3, 0]],
    [run({ state: "aborted" }), "STOPPED", [9, 6, 3, 0]],
    [run({ state: "rolled_back" }), "STOPPED", [9, 0, 9, 0]],
  ] as const;
  for (const [result, status, counts] of all) {
    expect(wrongResult(result), status).toEqual([]);
    const { recordsRead, recordsWritten, recordsSkipped, recordsFailed } = result!;
    expect([result!.status, recordsRead, recordsWritten, recordsSkipped, recordsFailed]).toEqual([
      status,
      ...counts,
    ]);
  }
  for (const state of ["planning", "waiting", "running", "promoting", "paused"] as const)
    expect(job({ state }), state).toBeUndefined();
  for (const state of ["planned", "running", "paused", "verifying", "rolling_back"] as const)
    expect(run({ state }), state).toBeUndefined();
});
