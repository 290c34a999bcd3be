// The result document of a job, as every job has one (core/job-result.ts), from what is on record of it.
import { concluded, type JobResult } from "../core/job-result.ts";
import type { JobReport } from "./contract.ts";

const exitCodes: Readonly<Partial<Record<JobReport["state"], number>>> = {
  completed: 0,
  failed: 1,
  cancelled: 143,
};

/** Undefined while it is not over: a failed one that is retried is no failed one. */
export function jobResult(job: JobReport): JobResult | undefined {
  const exitCode = exitCodes[job.state];
  if (exitCode === undefined) return undefined;
  const read = job.manifest?.rows ?? job.rows;
  const written = job.manifest?.rows ?? 0;
  const warnings = written < read ? [`${read - written} rows were staged and not promoted`] : [];
  const account = { recordsRead: read, recordsWritten: written, recordsSkipped: read - written, warnings };
  const finishedAtMs = job.endedAtMs ?? job.movedAtMs;
  return concluded({
    jobId: job.id,
    exitCode,
    account,
    failure: job.failure ?? undefined,
    startedAtMs: job.begunAtMs ?? finishedAtMs,
    finishedAtMs,
  });
}
