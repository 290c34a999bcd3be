// The result document of a run, as every job has one (core/job-result.ts), from what is on record of it.
import { concluded, type JobAccount, type JobResult } from "../../core/job-result.ts";
import type { RunReport } from "./contract.ts";

const [done, failed, inPart, stopped] = [0, 1, 3, 143];

function exitCodeOf(run: RunReport): number | undefined {
  if (run.state === "completed") return run.failed > 0 ? inPart : done;
  if (run.state === "aborted") return run.failure === null ? stopped : failed;
  return run.state === "rolled_back" ? stopped : undefined;
}

function accountOf({ state, handled, final, failed }: RunReport): JobAccount {
  const isUndone = state === "rolled_back";
  const written = isUndone ? 0 : handled;
  const warnings = [
    isUndone && handled > 0 && `${handled} records were handled and rolled back`,
    final > 0 && `${final} records are final and were left alone`,
  ].filter((each) => each !== false);
  return {
    recordsRead: handled + final + failed,
    recordsWritten: written,
    recordsSkipped: handled - written + final,
    recordsFailed: failed,
    warnings,
  };
}

/** Undefined while it is not over. */
export function runResult(run: RunReport): JobResult | undefined {
  const exitCode = exitCodeOf(run);
  if (exitCode === undefined) return undefined;
  const finishedAtMs = run.endedAtMs ?? run.askedAtMs;
  return concluded({
    jobId: run.id,
    exitCode,
    account: accountOf(run),
    failure: run.failure ?? undefined,
    startedAtMs: run.begunAtMs ?? finishedAtMs,
    finishedAtMs,
  });
}
