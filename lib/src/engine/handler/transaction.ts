// A handler's own transaction, on a connection of its own. It takes two round trips beside the handler's own: what its
// owner wants to know first goes out with the begin and the handler's first statement; the owner's closing statements go
// out with the commit, so that the handler's writes and what became of its work are one commit.
import type { QueryResult } from "pg";
import { burst, type BurstAnswer, type BurstStatement } from "../../pg/burst.ts";
import type { Queryable, Statement } from "../../pg/contract.ts";
import type { Database } from "../../pg/database.ts";
import { isAborted, isConnectionLost, isStalePlan } from "../../pg/faults.ts";
import { inSchema } from "../../pg/join.ts";
import type { Lease, Line } from "../../pg/lease.ts";
import { asStatement, forDriver, textOf } from "./asked.ts";
import { beginning, committing, forgetLimits } from "./begin.ts";
import { handlerErrors, type HandlerTx } from "./contract.ts";
import { inspect } from "./control.ts";

export interface Prepared {
  readonly statement: Statement;
  readonly values: readonly unknown[];
  /** What it means that it failed, where that is more than its error says. */
  readonly meaning?: (cause: unknown) => unknown;
}

export interface HandlerTransaction {
  readonly tx: HandlerTx;
  /** Whether a statement was made in it, so that its connection and locks are held. */
  readonly isOpen: () => boolean;
  /**
   * Sends the closing statements with the commit, and rejects with the first failure; nothing was written then, unless
   * the connection was lost, which leaves it unknown.
   */
  commit(closing: readonly Prepared[]): Promise<void>;
  rollback(): Promise<void>;
}

export interface TransactionOptions {
  readonly database: Database;
  readonly timeoutMs: number;
  /** Counts it while it waits for a connection. */
  readonly line?: Line;
  /** What must be done, and committed, before the transaction begins. */
  readonly before?: () => Promise<unknown>;
  /** Sent between the begin and the handler's first statement; to keep that from running they must raise in the database. */
  readonly opening?: readonly Prepared[];
}

const rollbackMs = 500;
const divisionByZero = "22012";

/** The item belongs to another owner now: the closing statement found its fence gone. */
export class FenceLost extends Error {
  override readonly name = "FenceLost";
}

/** A closing statement that divides by zero where its fence is lost, which fails the transaction with it. */
export const fenced = ({ statement, values }: Prepared): Prepared => ({
  statement,
  values,
  meaning: (cause) => ((cause as { code?: unknown }).code === divisionByZero ? new FenceLost() : cause),
});

const usedLate = () => handlerErrors.error("TUNTAS_TX_CLOSED", "ctx.tx was used after its attempt had ended");

/** A transaction that has begun, with the answer to what the handler asked first. */
interface Opened {
  readonly lease: Lease;
  readonly first: BurstAnswer;
  /** To be called after the commit. */
  readonly committed: () => void;
}

export function openTransaction(options: TransactionOptions): HandlerTransaction {
  const { database, timeoutMs, opening = [] } = options;
  let lease: Lease | undefined;
  let opened: Promise<Opened> | undefined;
  let closed = false;
  let begun = false;

  const bound = ({ statement, values }: Prepared): BurstStatement => database.bind(statement, values);

  const borrow = (): Promise<Lease> => database.lender.borrow(options.line);

  /** Begins the transaction, and asks what the handler asks first in the same round trip. */
  async function open(asked: readonly BurstStatement[]): Promise<Opened> {
    if (options.before) await options.before();
    const taken = (lease = await borrow());
    // Its attempt was over while it waited: others are to have the connection.
    if (closed) {
      await undo();
      throw usedLate();
    }
    begun = true;
    const { client } = taken;
    const { statements: lead, committed } = beginning(database, client, timeoutMs);
    forgetLimits(client, asked);
    const statements = [...lead, ...opening.map(bound), ...asked];
    let first = await burst(client, statements);
    // Whoever had the connection before has failed, and left it in a transaction that is aborted.
    if (taken.before && first.failure?.at === 0 && isAborted(first.failure.cause) && !closed) {
      client.query("rollback").catch(() => undefined);
      first = await burst(client, statements);
    }
    const { failure } = first;
    if (!failure || failure.at >= lead.length + opening.length) return { lease: taken, first, committed };
    throw opening[failure.at - lead.length]?.meaning?.(failure.cause) ?? failure.cause;
  }

  function refuse(text: string | undefined): void {
    if (closed) throw usedLate();
    if (text === undefined || !inspect(text).controls) return;
    throw handlerErrors.error(
      "TUNTAS_TX_CONTROL",
      `ctx.tx refuses transaction control, got ${JSON.stringify(text.slice(0, 60))}`,
    );
  }

  function resultOf({ failure, results }: BurstAnswer, text: string): QueryResult {
    if (!failure) return results[0]!;
    const { cause } = failure;
    if (isStalePlan(cause)) database.names.renew(text);
    // Else the trace would lead to the socket instead of the handler.
    if (cause instanceof Error) Error.captureStackTrace(cause);
    throw cause;
  }

  async function query(given: unknown, values?: unknown[]): Promise<QueryResult> {
    const text = textOf(given);
    refuse(text);
    const asked = asStatement(given, values, database.names);
    const isFirst = opened === undefined;
    const { lease: on, first } = await (opened ??= open(asked ? [asked] : []));
    if (asked && isFirst) return resultOf(first, asked.text);
    refuse(text); // its attempt may have ended while it waited, and the connection may be another's
    if (text !== undefined) forgetLimits(on.client, [{ text }]);
    if (asked) return resultOf(await burst(on.client, [asked]), asked.text);
    return (await on.client.query(forDriver(given) as never, values as never)) as unknown as QueryResult;
  }

  function release(broken: boolean): void {
    lease?.release(broken);
    lease = undefined;
  }

  /** Where it still waits for a connection, `open` gives that back once it comes: nobody's end is to wait for another's work. */
  async function rollback(): Promise<void> {
    closed = true;
    await undo();
  }

  async function undo(): Promise<void> {
    // The end of the transaction before may be under way: to cut that off would leave its owner in doubt.
    await lease?.before;
    // Whoever has the connection by now begins anew.
    if (!lease?.keep()) return;
    // Nothing was sent, and nobody before it can have left the connection in a transaction that failed.
    if (!begun && lease.before === undefined) return release(false);
    // A statement may still be running (the handler timed out in it): then the connection is dropped, not awaited.
    const ended = await Promise.race([
      lease.client.query("rollback").then(
        () => true,
        () => false,
      ),
      new Promise<false>((resolve) => setTimeout(resolve, rollbackMs, false).unref()),
    ]);
    release(!ended);
  }

  return {
    tx: inSchema({ query } as Queryable, database.schema, !database.pooled) as HandlerTx,
    isOpen: () => opened !== undefined,
    rollback,
    async commit(closing) {
      try {
        const { lease: on, committed } = await (opened ??= open([]));
        closed = true;
        const { command, failure } = await on.end([...closing.map(bound), committing(database)]);
        if (failure) throw closing[failure.at]?.meaning?.(failure.cause) ?? failure.cause;
        // A transaction that had failed answers COMMIT with ROLLBACK.
        if (command !== "COMMIT") throw new Error("the transaction had failed before its commit");
        committed();
        release(false);
      } catch (cause) {
        if (isConnectionLost(cause)) release(true);
        await rollback();
        throw cause;
      }
    },
  };
}
