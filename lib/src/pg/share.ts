// One commit for many callers: a commit costs a wait for the disk, whether it carries one row or a hundred. Each caller is
// told after the commit that carries its item, and nobody fails for another's item.
import { refuseUnknown, type NamesOf } from "../core/options.ts";
import { coalescer } from "../core/coalesce.ts";
import type { Sql, Tx } from "./contract.ts";
import { isTransient } from "./faults.ts";

export interface SharedWork<Item, Result> {
  /** Does the work of all items in one transaction; answers one result for each, in their order. */
  readonly run: (tx: Tx, items: readonly Item[]) => Promise<readonly Result[]>;
  /** The most items of one commit; 100 by default. */
  readonly itemsMax?: number;
}

const workNames: NamesOf<SharedWork<any, any>> = { run: true, itemsMax: true };

interface Settled<Result> {
  readonly result?: Result;
  readonly cause?: unknown;
}

/** Answers a function that does the work of one item, together with whoever asks at the same time. */
export function shareCommits<Item, Result>(
  sql: Pick<Sql, "transaction">,
  work: SharedWork<Item, Result>,
): (item: Item) => Promise<Result> {
  refuseUnknown("shareCommits", work, workNames);
  const together = (items: readonly Item[]) => sql.transaction((tx) => work.run(tx, items));

  async function alone(item: Item): Promise<Settled<Result>> {
    try {
      return { result: (await together([item]))[0]! };
    } catch (cause) {
      return { cause };
    }
  }

  async function flush(items: readonly Item[]): Promise<Settled<Result>[]> {
    try {
      return (await together(items)).map((result) => ({ result }));
    } catch (cause) {
      // Whether a lost commit took place is not known, so running it again could do the work twice.
      if (items.length === 1 || isTransient((cause as Error).cause ?? cause))
        return items.map(() => ({ cause }));
      const settled: Settled<Result>[] = [];
      for (const item of items) settled.push(await alone(item));
      return settled;
    }
  }

  const shared = coalescer<Item, Settled<Result>>({ itemsMax: work.itemsMax ?? 100, flushesMax: 2, flush });
  return async (item) => {
    const { result, cause } = await shared.add(item);
    if (cause !== undefined) throw cause;
    return result as Result;
  };
}
