// What a receipt handle can do: delete its message, or change how long it stays hidden.
import { coalescer, type Coalescer } from "../../core/coalesce.ts";
import type { Tx } from "../../pg/contract.ts";
import type { QueueRecord } from "../contract.ts";
import { decodeReceipt } from "../receipt.ts";
import { queueSignals } from "../signals.ts";
import {
  changeByReceipt,
  findByReceipt,
  removeByReceipt,
  type Receipt,
  type Touched,
} from "../store/receipt.ts";
import { refreshGroups } from "../store/settle.ts";
import type { QueueContext } from "./context.ts";
import { wakeQueues } from "./context.ts";

/** What came of one receipt. `invalid`: never issued here, or for another queue. `expired`: FIFO, its timeout has ended. */
export type ReceiptResult = "ok" | "invalid" | "expired" | "gone" | "too_long";

export interface Receipts {
  /** Deletes the message. Deleting what is gone already is `ok`. */
  delete(queue: QueueRecord, handle: string): Promise<ReceiptResult>;
  /** Hides the message for so many seconds from now; 0 shows it at once. `gone`: deleted, or not received. */
  change(queue: QueueRecord, handle: string, seconds: number): Promise<ReceiptResult>;
}

const visibilityTotalMaxSeconds = 43_200;

export function makeReceipts(context: QueueContext): Receipts {
  const { database, due } = context;

  /** Runs on many receipts at once; FIFO in a transaction that also frees the groups. */
  async function inGroups(
    fifo: boolean,
    work: (runner: Pick<Tx, "run">) => Promise<Touched[]>,
  ): Promise<Touched[]> {
    if (!fifo) return work(database);
    const touched = await database.transaction(async (tx) => {
      const rows = await work(tx);
      await refreshGroups(tx, rows);
      return rows;
    });
    wakeQueues(
      context,
      touched.map((row) => row.queueId),
    );
    return touched;
  }

  // A message whose timeout ends at this moment is on its way from one table to another, where the first statement's
  // snapshot sees it in neither; the next statement sees where it went.
  const again = (receipts: readonly Receipt[]) => removeByReceipt(database, receipts, true);

  const removers = [false, true].map((fifo) =>
    coalescer<Receipt, boolean>({
      itemsMax: 500,
      flushesMax: 2,
      async flush(receipts) {
        const touched = await inGroups(fifo, (runner) => removeByReceipt(runner, receipts, !fifo));
        const gone = new Set(touched.map((row) => row.id));
        const left = fifo ? [] : receipts.filter((receipt) => !gone.has(receipt.id));
        for (const row of left.length > 0 ? await again(left) : []) gone.add(row.id);
        if (touched[0])
          queueSignals.publish("queue.deleted", { queueId: touched[0].queueId, count: gone.size });
        return receipts.map((receipt) => gone.has(receipt.id));
      },
    }),
  ) as [Coalescer<Receipt, boolean>, Coalescer<Receipt, boolean>];

  function decode(queue: QueueRecord, handle: string): Receipt | undefined {
    const receipt = decodeReceipt(handle);
    return receipt?.queueId === queue.id ? receipt : undefined;
  }

  async function change(queue: QueueRecord, receipt: Receipt, seconds: number): Promise<ReceiptResult> {
    const [place] = await findByReceipt(database, [receipt]);
    if (!place?.exists) return "gone";
    if (place.mine && place.heldSeconds! + seconds > visibilityTotalMaxSeconds) return "too_long";
    if (queue.fifo && !place.mine) return "expired";
    const hide = () =>
      inGroups(queue.fifo, (runner) => changeByReceipt(runner, [{ ...receipt, seconds }], !queue.fifo));
    let touched = await hide();
    if (touched.length === 0 && !queue.fifo) touched = await hide(); // see `again`
    if (touched.length > 0) due.note(seconds * 1000);
    if (seconds === 0) await due.sweep();
    return "ok";
  }

  return {
    async delete(queue, handle) {
      const receipt = decode(queue, handle);
      if (!receipt) return "invalid";
      const removed = await removers[queue.fifo ? 1 : 0].add(receipt);
      if (removed || !queue.fifo) return "ok";
      const [place] = await findByReceipt(database, [receipt]);
      return place?.exists ? "expired" : "ok";
    },
    async change(queue, handle, seconds) {
      const receipt = decode(queue, handle);
      return receipt ? change(queue, receipt, seconds) : "invalid";
    },
  };
}
