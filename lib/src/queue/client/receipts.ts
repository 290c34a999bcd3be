// What a receipt handle can do: delete its message, or change how long it stays hidden.
import { coalescer } from "../../core/coalesce.ts";
import type { Tx } from "../../pg/contract.ts";
import type { QueueRecord } from "../contract.ts";
import { decodeReceipt } from "../receipt.ts";
import { queueSignals } from "../signals.ts";
import {
  changeByReceipt,
  findByReceipt,
  removeByFreshReceipt,
  removeByReceipt,
  type Receipt,
  type Touched,
} from "../store/receipt.ts";
import { refreshGroups } from "../store/settle.ts";
import type { QueueContext } from "./context.ts";
import { overTurns, wakeQueues } from "./context.ts";

/** What came of one receipt. `invalid`: never issued here, or for another queue. `expired`: FIFO, its timeout has ended. */
export type ReceiptResult = "ok" | "invalid" | "expired" | "gone" | "too_long";

export interface Receipts {
  /** Deletes the message. Deleting what is gone already is `ok`. */
  delete(queue: QueueRecord, handle: string): Promise<ReceiptResult>;
  /** The same for several, with what came of each. */
  deleteAll(queue: QueueRecord, handles: readonly string[]): Promise<ReceiptResult[]>;
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

  async function removeFifo(receipts: readonly Receipt[]): Promise<Set<string>> {
    const touched = await inGroups(true, (runner) => removeByReceipt(runner, receipts, false));
    return new Set(touched.map((row) => row.id));
  }

  /**
   * Those that hold fresh messages first, then the others, such as those whose timeout has ended. A message whose timeout ends at this moment
   * is on its way from one table to another, where a statement's snapshot may see it in neither; the next one sees where
   * it went.
   */
  async function removeStandard(receipts: readonly Receipt[]): Promise<Set<string>> {
    const gone = new Set(await removeByFreshReceipt(database, receipts));
    for (let look = 0; look < 2; look++) {
      const left = receipts.filter((receipt) => !gone.has(receipt.id));
      if (left.length === 0) break;
      for (const row of await removeByReceipt(database, left, true)) gone.add(row.id);
    }
    return gone;
  }

  function tell(receipts: readonly Receipt[], gone: ReadonlySet<string>): void {
    const counts = new Map<number, number>();
    for (const { queueId, id } of receipts)
      if (gone.has(id)) counts.set(queueId, (counts.get(queueId) ?? 0) + 1);
    for (const [queueId, count] of counts) queueSignals.publish("queue.deleted", { queueId, count });
  }

  const makeRemover = (remove: (receipts: readonly Receipt[]) => Promise<Set<string>>) =>
    coalescer<readonly Receipt[], boolean[]>({
      itemsMax: Infinity,
      costMax: 500,
      cost: (receipts) => receipts.length,
      flushesMax: 2,
      ...overTurns(48),
      async flush(parcels) {
        const receipts = parcels.flat();
        const gone = await remove(receipts);
        tell(receipts, gone);
        return parcels.map((parcel) => parcel.map((receipt) => gone.has(receipt.id)));
      },
    });

  const fifo = makeRemover(removeFifo);
  const standard = makeRemover(removeStandard);

  /** Why FIFO receipts could not delete: their messages are gone, or their timeouts have ended. */
  async function explain(receipts: readonly Receipt[]): Promise<ReceiptResult[]> {
    const places = await findByReceipt(database, receipts);
    const existing = new Set(places.filter((place) => place.exists).map((place) => place.id));
    return receipts.map((receipt) => (existing.has(receipt.id) ? "expired" : "ok"));
  }

  async function remove(queue: QueueRecord, receipts: readonly Receipt[]): Promise<ReceiptResult[]> {
    if (receipts.length === 0) return [];
    if (!queue.fifo) return (await standard.add(receipts)).map(() => "ok");
    const removed = await fifo.add(receipts);
    const left = receipts.filter((_, index) => !removed[index]);
    const reasons = left.length > 0 ? await explain(left) : [];
    return removed.map((done) => (done ? "ok" : reasons.shift()!));
  }

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

  async function deleteAll(queue: QueueRecord, handles: readonly string[]): Promise<ReceiptResult[]> {
    const receipts = handles.map((handle) => decode(queue, handle));
    const known = receipts.filter((receipt) => receipt !== undefined);
    const results = await remove(queue, known);
    return receipts.map((receipt) => (receipt ? results.shift()! : "invalid"));
  }

  return {
    delete: async (queue, handle) => (await deleteAll(queue, [handle]))[0]!,
    deleteAll,
    async change(queue, handle, seconds) {
      const receipt = decode(queue, handle);
      return receipt ? change(queue, receipt, seconds) : "invalid";
    },
  };
}
