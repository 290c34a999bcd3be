// Advances that carry a handler's writes. With `ctx.tx` they end the handler's own transaction; statements of `ctx.write`
// run one handler after another in a commit shared with others. Where that commit is lost, be it by one handler's
// statement, its halves are tried, down to the one that fails: nobody fails for another's statement, and the usual
// case pays for no savepoint.
import { coalescer } from "../../../core/coalesce.ts";
import type { Write } from "../../../engine/handler/contract.ts";
import { FenceLost, type HandlerTransaction } from "../../../engine/handler/transaction.ts";
import { commitWrites } from "../../../engine/handler/writes.ts";
import type { Database } from "../../../pg/database.ts";
import { isConnectionLost } from "../../../pg/faults.ts";
import { advancesOrRaise, type Advance } from "../../store/advance.ts";

export interface WriteStep {
  readonly advance: Advance;
  readonly writes: readonly Write[];
  readonly timeoutMs: number;
}

/** `committed`, `lost` (the fence), or why the transaction failed. */
export type StepEnding = "committed" | "lost" | { readonly cause: unknown };

const endingOf = (cause: unknown): StepEnding => (cause instanceof FenceLost ? "lost" : { cause });

/** Ends the handler's own transaction with the advance, and runs first what it handed over besides. */
export async function commitOwn(
  transaction: HandlerTransaction,
  writes: readonly Write[],
  advance: Advance,
): Promise<StepEnding> {
  try {
    for (const { text, values } of writes) await transaction.tx.query(text, values as unknown[]);
    await transaction.commit(advancesOrRaise([advance]));
    return "committed";
  } catch (cause) {
    await transaction.rollback();
    return endingOf(cause);
  }
}

const stepsMax = 200;

export interface StepWriter {
  add(step: WriteStep): Promise<StepEnding>;
  idle(): Promise<void>;
}

export function makeStepWriter(database: Database): StepWriter {
  const transaction = (steps: readonly WriteStep[]): Promise<void> =>
    commitWrites(database, {
      closing: advancesOrRaise(steps.map(({ advance }) => advance)),
      writes: steps.flatMap(({ writes }) => writes),
      timeoutMs: Math.max(...steps.map(({ timeoutMs }) => timeoutMs)),
    });

  async function flush(steps: readonly WriteStep[]): Promise<StepEnding[]> {
    try {
      await transaction(steps);
      return steps.map(() => "committed");
    } catch (cause) {
      if (steps.length === 1) return [endingOf(cause)];
      // The database is away: each looks again later, and its fence will say whether the commit took place.
      if (isConnectionLost(cause)) return steps.map(() => ({ cause }));
      const half = Math.ceil(steps.length / 2);
      return [...(await flush(steps.slice(0, half))), ...(await flush(steps.slice(half)))];
    }
  }

  return coalescer<WriteStep, StepEnding>({
    itemsMax: stepsMax,
    flushesMax: 2,
    flush,
    schedule: setImmediate,
  });
}
