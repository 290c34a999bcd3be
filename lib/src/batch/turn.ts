// A batch's turn: jobs whose partitions have all ended go on to their promotion or have failed, and where none runs, the
// waiting one with the highest priority begins. It is one transaction that holds the batch's row, with the messages in it,
// so that whatever dies in between leaves everything as it was, and of two processes that come at once the second finds
// nothing to do.
import type { Sql, Tx } from "../pg/contract.ts";
import { queueNameOf } from "./declaration.ts";
import { moveOn } from "./ending.ts";
import { batchSignals, type BatchSignal } from "./signals.ts";
import type { Step } from "./step.ts";
import type { Send } from "./send.ts";
import * as batches from "./store/batches.ts";
import * as jobs from "./store/jobs.ts";
import * as partitions from "./store/partitions.ts";

type Tell = (name: BatchSignal, fields: Readonly<Record<string, unknown>>) => void;

export type Turn = (batch: string) => Promise<void>;

export function makeTurn(database: Sql, send: Send<Step>): Turn {
  async function endThrough(tx: Tx, batch: string, tell: Tell): Promise<void> {
    for (const job of await jobs.lockThrough(tx, batch)) {
      const { n, first } = await partitions.readFailures(tx, job.id);
      if (n > 0) {
        const reason = `${n} failed; ${first}`;
        await moveOn(tx, job, "failed", reason);
        tell("batch.failed", { batch, jobId: job.id, reason });
      } else {
        const run = (await moveOn(tx, job, "promoting"))!;
        await send(tx, queueNameOf(batch), [{ job: job.id, step: "promote", run }]);
      }
    }
  }

  /** True where a job was begun that has nothing left but its promotion. */
  async function beginNext(tx: Tx, batch: string, tell: Tell): Promise<boolean> {
    const job = await jobs.lockNext(tx, batch);
    if (!job) return false;
    await moveOn(tx, job, "running");
    const claims = await partitions.sendPartitions(tx, job.id);
    await send(
      tx,
      queueNameOf(batch),
      claims.toSorted((a, b) => a.number - b.number).map((claim) => ({ ...claim, step: "partition" })),
    );
    tell("batch.begun", { batch, jobId: job.id, partitions: claims.length });
    return claims.length === 0;
  }

  return async (batch) => {
    const news: Parameters<Tell>[] = [];
    const tell: Tell = (...each) => void news.push(each);
    await database.transaction(async (tx) => {
      if (!(await batches.lockBatch(tx, batch))) return;
      await endThrough(tx, batch, tell);
      if (await beginNext(tx, batch, tell)) await endThrough(tx, batch, tell);
    });
    for (const each of news) batchSignals.publish(...each);
  };
}
