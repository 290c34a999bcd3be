// A job's result document, for a person.
import type { JobResult } from "tuntas";

/** In a line; empty where there is none yet. */
export const resultLine = (result: JobResult | null | undefined): string =>
  result
    ? `${result.status}, exit code ${result.exitCode}: ${result.recordsRead} read, ${result.recordsWritten} written, ${result.recordsSkipped} skipped, ${result.recordsFailed} failed`
    : "";
