// Advances that carry a handler's writes. With `ctx.tx` they end the handler's own transaction; statements of `ctx.write`
// run one handler after another in a commit shared with others. Where that commit is lost, be it by one handler's
// statement, its halves are tried, down to the one that fails: nobody fails for another's statement, and the usual
// case pays for no savepoint.
import type { PoolClient } from "pg";
import { coalescer } from "../../../core/coalesce.ts";
import type { Write } from "../../../engine/handler/contract.ts";
import { beginning, committing, forgetLimits } from "../../../engine/handler/begin.ts";
import { FenceLost, type HandlerTransaction } from "../../../engine/handler/transaction.ts";
import { burst } from "../../../pg/burst.ts";
import type { Database } from "../../../pg/database.ts";
import { dropClient } from "../../../pg/wire.ts";
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
  const { names } = database;

  async function send(client: PoolClient, steps: readonly WriteStep[]): Promise<void> {
    const timeoutMs = Math.max(...steps.map((step) => step.timeoutMs));
    const { statements: begun, committed } = beginning(database, client, timeoutMs);
    const writes = steps.flatMap((step) => step.writes);
    forgetLimits(client, writes);
    const advancing = advancesOrRaise(steps.map(({ advance }) => advance));
    const { command, failure } = await burst(client, [
      ...begun,
      // Before the handlers' statements: where a fence is lost, they fail with it, unrun.
      ...advancing.map(({ statement, values }) => database.bind(statement, values)),
      ...writes.map(({ text, values }) => ({ name: names.of(text), text, values, rows: undefined })),
      committing(database),
    ]);
    if (failure) throw advancing[failure.at - begun.length]?.meaning?.(failure.cause) ?? failure.cause;
    if (command !== "COMMIT") throw new Error("the shared transaction had failed before its commit");
    committed();
  }

  async function transaction(steps: readonly WriteStep[]): Promise<void> {
    const client = await database.handlerClient();
    let broken = true;
    try {
      await send(client, steps);
      broken = false;
    } catch (cause) {
      broken = await client.query("rollback").then(
        () => false,
        () => true,
      );
      throw cause;
    } finally {
      if (broken) dropClient(client);
      else client.release();
    }
  }

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
