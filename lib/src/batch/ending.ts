// Moving a job on, and telling whoever the batch names of its end, in one commit.
import { add } from "../outbox/client.ts";
import type { Runner } from "../pg/join.ts";
import type { JobState } from "./contract.ts";
import { moveJob, readCounts, type JobRow } from "./store/jobs.ts";

const told: readonly JobState[] = ["completed", "failed", "cancelled"];

/** Answers the run that counts now; undefined where another has moved it meanwhile. */
export async function moveOn(
  tx: Runner,
  job: JobRow,
  to: JobState,
  failure: string | null = null,
): Promise<number | undefined> {
  const run = await moveJob(tx, job, to, failure);
  const { announceKind: kind, announceName: name, id, batch, key } = job;
  if (run !== undefined && kind !== null && name !== null && told.includes(to))
    await add(tx, {
      target: { kind, name },
      key: batch,
      type: "BatchEnded",
      payload: JSON.stringify({ batch, job: id, key, state: to, failure, ...(await readCounts(tx, id)) }),
    });
  return run;
}
