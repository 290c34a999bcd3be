// A handler's own transaction, on a connection of its own. It opens at the first statement, together with what its owner
// wants to know first; it ends with the owner's closing statements and the commit, sent together, so that the handler's
// writes and what became of its work are one commit.
import type { PoolClient, QueryResult } from "pg";
import type { Queryable, Statement } from "../../pg/contract.ts";
import { dropClient, inOneWrite, type Database } from "../../pg/database.ts";
import { isConnectionLost } from "../../pg/faults.ts";
import { inSchema } from "../../pg/join.ts";
import { handlerErrors, type HandlerTx } from "./contract.ts";
import { isTransactionControl } from "./control.ts";

export interface Prepared {
  readonly statement: Statement;
  readonly values: readonly unknown[];
}

/** Runs one of our statements in the transaction. */
export type Run = (call: Prepared) => Promise<QueryResult>;

export interface HandlerTransaction {
  readonly tx: HandlerTx;
  /** Whether a statement was made in it, so that its connection and locks are held. */
  readonly isOpen: () => boolean;
  /**
   * Sends the closing statements with the commit, and rejects with the first failure; nothing was written then, unless
   * the connection was lost, which leaves it unknown.
   */
  commit(closing: (run: Run) => readonly Promise<unknown>[]): Promise<void>;
  rollback(): Promise<void>;
}

export interface TransactionOptions {
  readonly database: Database;
  readonly timeoutMs: number;
  /** What must be done, and committed, before the transaction begins. */
  readonly before?: () => Promise<unknown>;
  /** Sent between the begin and the handler's first statement; to keep that from running it must raise in the database. */
  readonly opening?: (run: Run) => Promise<unknown>;
}

/**
 * Nothing waits inside the database without limit: a second owner of one key finds out within 3 s, and no statement
 * outlives the time that its attempt has.
 */
export const beginText = (timeoutMs: number): string =>
  `begin; set local lock_timeout = '3s'; set local statement_timeout = ${timeoutMsOf(timeoutMs)}`;

/** A timeout as PostgreSQL takes it. */
export const timeoutMsOf = (timeoutMs: number): number => Math.min(Math.ceil(timeoutMs), 2 ** 31 - 1);

const rollbackMs = 500;
const divisionByZero = "22012";

/** The item belongs to another owner now: the closing statement found its fence gone. */
export class FenceLost extends Error {
  override readonly name = "FenceLost";
}

/** A closing statement that divides by zero where its fence is lost, which fails the transaction with it. */
export const fenced = <T>(sent: Promise<T>): Promise<T> =>
  sent.catch((cause: unknown) => {
    throw (cause as { code?: unknown }).code === divisionByZero ? new FenceLost() : cause;
  });

export function openTransaction({
  database,
  timeoutMs,
  before,
  opening,
}: TransactionOptions): HandlerTransaction {
  let client: PoolClient | undefined;
  let closed = false;
  let opened: Promise<PoolClient> | undefined;

  const runOn =
    (on: PoolClient): Run =>
    ({ statement, values }) =>
      on.query({ ...database.prepare(statement), values: values as unknown[] });

  /** Begins the transaction; what the handler asks first goes out in the same write. */
  async function open(first?: (on: PoolClient) => Promise<QueryResult>): Promise<PoolClient> {
    if (before) await before();
    client = await database.handlerClient();
    const on = client;
    const [begun, known, asked] = inOneWrite(
      on,
      () => [on.query(beginText(timeoutMs)), opening?.(runOn(on)), first?.(on)] as const,
    );
    asked?.catch(() => undefined); // whoever asked hears of it
    await Promise.all([begun, known]);
    return on;
  }

  function refuse(text: unknown): void {
    if (closed) throw handlerErrors.error("TUNTAS_TX_CLOSED", "ctx.tx was used after its attempt had ended");
    if (typeof text === "string" && isTransactionControl(text)) {
      throw handlerErrors.error(
        "TUNTAS_TX_CONTROL",
        `ctx.tx refuses transaction control, got ${JSON.stringify(text.slice(0, 60))}`,
      );
    }
  }

  async function query(first: unknown, values?: unknown[]) {
    refuse(typeof first === "string" ? first : (first as { text?: unknown } | null)?.text);
    const ask = (on: PoolClient) =>
      on.query(first as never, values as never) as unknown as Promise<QueryResult>;
    if (opened) return ask(await opened);
    let answer: Promise<QueryResult> | undefined;
    opened = open((on) => (answer = ask(on)));
    await opened;
    return answer!;
  }

  function release(broken: boolean): void {
    if (broken && client) dropClient(client);
    else client?.release();
    client = undefined;
  }

  async function rollback(): Promise<void> {
    closed = true;
    // A rollback before it had opened: wait for the opening, or its connection would stay out for ever.
    await opened?.catch(() => undefined);
    if (!client) return;
    // A statement may still be running (the handler timed out in it): then the connection is dropped, not awaited.
    const ended = await Promise.race([
      client.query("rollback").then(
        () => true,
        () => false,
      ),
      new Promise<false>((resolve) => setTimeout(resolve, rollbackMs, false).unref()),
    ]);
    release(!ended);
  }

  async function close(on: PoolClient, closing: (run: Run) => readonly Promise<unknown>[]): Promise<void> {
    const sent = inOneWrite(on, () => [...closing(runOn(on)), on.query("commit")]);
    const results = await Promise.allSettled(sent);
    for (const result of results) if (result.status === "rejected") throw result.reason;
    // A transaction that had failed answers COMMIT with ROLLBACK.
    const last = results.at(-1) as PromiseFulfilledResult<QueryResult>;
    if (last.value.command !== "COMMIT") throw new Error("the transaction had failed before its commit");
  }

  return {
    tx: inSchema({ query } as Queryable, database.schema, !database.pooled) as HandlerTx,
    isOpen: () => opened !== undefined,
    rollback,
    async commit(closing) {
      try {
        const on = await (opened ??= open());
        closed = true;
        await close(on, closing);
        release(false);
      } catch (cause) {
        if (isConnectionLost(cause)) release(true);
        await rollback();
        throw cause;
      }
    },
  };
}
