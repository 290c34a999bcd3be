// Advances that carry a handler's writes. With `ctx.tx` they end the handler's own transaction; statements of `ctx.write`
// run one handler after another in a commit shared with others. Where that commit is lost, be it by one handler's
// statement, its halves are tried, down to the one that fails: nobody fails for another's statement, and the usual
// case pays for no savepoint.
import type { PoolClient } from "pg";
import { coalescer } from "../../../core/coalesce.ts";
import type { Write } from "../../../engine/handler/contract.ts";
import {
  beginText,
  fenced,
  FenceLost,
  timeoutMsOf,
  type HandlerTransaction,
} from "../../../engine/handler/transaction.ts";
import { runBurst } from "../../../pg/burst.ts";
import { dropClient, inOneWrite, statement, type Database } from "../../../pg/database.ts";
import { isConnectionLost } from "../../../pg/faults.ts";
import { advancesOrRaise, type Advance, type StepRecord } from "../../store/advance.ts";

export interface Step {
  readonly advance: Advance;
  readonly record: StepRecord;
}

export interface WriteStep extends Step {
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
  step: Step,
): Promise<StepEnding> {
  try {
    for (const { text, values } of writes) await transaction.tx.query(text, values as unknown[]);
    await transaction.commit((run) => [fenced(run(advancesOrRaise([step])))]);
    return "committed";
  } catch (cause) {
    await transaction.rollback();
    return endingOf(cause);
  }
}

const stepsMax = 200;

const failedBefore = () => new Error("the shared transaction had failed before its commit");

const longestOf = (steps: readonly WriteStep[]): number => Math.max(...steps.map((step) => step.timeoutMs));

const limits = {
  name: "tuntas_step_limits",
  text: "select set_config('lock_timeout', '3s', true), set_config('statement_timeout', $1, true)",
};

export interface StepWriter {
  add(step: WriteStep): Promise<StepEnding>;
  idle(): Promise<void>;
}

/** Handlers hand the same few texts over again and again; a session keeps so many of them prepared. */
const preparedMax = 100;

function makeNames(database: Database) {
  const names = new Map<string, string>();
  return (text: string, values: readonly unknown[]) => {
    const known = names.get(text);
    if (!known && !database.pooled && names.size < preparedMax) names.set(text, statement(text).name);
    return { ...(known && { name: known }), text, values: values as unknown[] };
  };
}

export function makeStepWriter(database: Database): StepWriter {
  const asPrepared = makeNames(database);
  const writesOf = (steps: readonly WriteStep[]) =>
    steps.flatMap(({ writes }) => writes.map(({ text, values }) => asPrepared(text, values)));
  // A burst leaves names behind on its session, which behind a transaction pooler is not ours.
  const isBurst = (steps: readonly WriteStep[]): boolean => steps.length > 1 && !database.pooled;

  /** All that the steps need in one round trip; whoever fails, nobody knows here. */
  async function together(client: PoolClient, steps: readonly WriteStep[]): Promise<void> {
    const { statement: advancing, values } = advancesOrRaise(steps);
    const limit = String(timeoutMsOf(longestOf(steps)));
    const command = await runBurst(client, [
      { text: "begin" },
      { ...limits, values: [limit] },
      { ...database.prepare(advancing), values },
      ...writesOf(steps),
      { text: "commit" },
    ]);
    if (command !== "COMMIT") throw failedBefore();
  }

  /** The same with an answer for each statement, so that it is known whether the fence failed or a handler's. */
  async function each(client: PoolClient, steps: readonly WriteStep[]): Promise<void> {
    const { statement: advancing, values } = advancesOrRaise(steps);
    const sent = inOneWrite(client, () => [
      client.query(beginText(longestOf(steps))),
      // Before the handlers' statements: where a fence is lost, they fail with it, unrun.
      fenced(client.query({ ...database.prepare(advancing), values: values as unknown[] })),
      ...writesOf(steps).map((write) => client.query(write)),
      client.query("commit"),
    ]);
    const results = await Promise.allSettled(sent);
    const failed = results.find((result) => result.status === "rejected");
    if (failed) throw failed.reason;
    const last = results.at(-1) as PromiseFulfilledResult<{ command: string }>;
    if (last.value.command !== "COMMIT") throw failedBefore();
  }

  async function transaction(steps: readonly WriteStep[]): Promise<void> {
    const client = await database.handlerClient();
    let broken = true;
    try {
      await (isBurst(steps) ? together : each)(client, steps);
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
