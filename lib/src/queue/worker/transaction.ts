// A handler's own transaction. It begins with the command record, so that a second attempt under the same key waits for
// the first (briefly) and then finds it; it ends with the acknowledgement, whose fence a late owner no longer holds.
import type { PoolClient } from "pg";
import type { Queryable, Statement } from "../../pg/contract.ts";
import { dropClient, inOneWrite, type Database } from "../../pg/database.ts";
import { inSchema } from "../../pg/join.ts";
import { isCollision, isConnectionLost, toCoded } from "../../pg/faults.ts";
import type { Claim } from "../contract.ts";
import { queueErrors } from "../contract.ts";
import type { CommandKey } from "../store/settle.ts";
import { acknowledgement, commandRecord, groupRefresh } from "../store/settle.ts";
import type { HandlerTx } from "./context.ts";

/** How a transaction ended. All but `committed` wrote nothing; `lost`: another owner has the message. */
export type Ending = "committed" | "lost" | Refusal;

export interface HandlerTransaction {
  readonly tx: HandlerTx;
  /** Whether a statement was made in it, so that its connection and locks are held. */
  readonly isOpen: () => boolean;
  /** Set where it could not begin; the handler's statement was told so by an error. */
  readonly refusal: () => Refusal | undefined;
  /** Commits with the acknowledgement. Rejects where the commit failed; whether it took place is then not known. */
  commit(): Promise<Ending>;
  rollback(): Promise<void>;
}

export interface TransactionParts {
  readonly database: Database;
  readonly claim: Claim & { readonly groupId: string | null };
  readonly fifo: boolean;
  readonly command: CommandKey | undefined;
  readonly timeoutMs: number;
}

/**
 * Nothing waits inside the database without limit: a second owner of one key finds out within 3 s, and no statement
 * outlives the time that its attempt has.
 */
export const beginText = (timeoutMs: number): string =>
  `begin; set local lock_timeout = '3s'; set local statement_timeout = ${Math.min(Math.ceil(timeoutMs), 2 ** 31 - 1)}`;

const lockTimeout = "55P03";
const divisionByZero = "22012";
const rollbackMs = 500;

const control =
  /(^|;)\s*(begin|commit|end|abort|start\s+transaction|prepare\s+transaction|rollback(?!(\s+(work|transaction))?\s+to))\b/i;
const quoted = /'(?:[^']|'')*'|"(?:[^"]|"")*"|\$([A-Za-z_]*)\$[\s\S]*?\$\1\$|--[^\n]*|\/\*[\s\S]*?\*\//g;

/** Whether the text names savepoints; what shares a commit has its own. */
export const namesSavepoint = (text: string): boolean =>
  /\b(savepoint|release|rollback)\b/i.test(text.replaceAll(quoted, " "));

/** Whether the text would begin or end a transaction; quoted text and comments do not count. */
export const isTransactionControl = (text: string): boolean => control.test(text.replaceAll(quoted, " "));

const codeOf = (cause: unknown): unknown => (cause as { code?: unknown } | null)?.code;

/** Why a transaction would not begin: its key has a record already, or somebody is about to write one. */
export type Refusal = "duplicate" | "busy";

export function openTransaction(parts: TransactionParts): HandlerTransaction {
  const { database, claim, fifo, command, timeoutMs } = parts;
  let client: PoolClient | undefined;
  let closed = false;
  let opening: Promise<PoolClient> | undefined;
  let refusal: Refusal | undefined;

  const run = (on: PoolClient, { statement, values }: { statement: Statement; values: unknown[] }) =>
    on.query({ ...database.prepare(statement), values });

  async function record(on: PoolClient): Promise<void> {
    if (!command) return;
    const { rowCount } = await run(on, commandRecord(command)).catch((cause: unknown) => {
      if (codeOf(cause) === lockTimeout) refusal = "busy";
      throw cause;
    });
    if (rowCount !== 0) return;
    refusal = "duplicate";
    throw new Error("its idempotency key was processed before");
  }

  async function open(): Promise<PoolClient> {
    client = await database.handlerClient();
    const on = client;
    await Promise.all(inOneWrite(on, () => [on.query(beginText(timeoutMs)), record(on)]));
    return on;
  }

  function refuse(text: unknown): void {
    if (closed) throw queueErrors.error("TUNTAS_TX_CLOSED", "ctx.tx was used after its attempt had ended");
    if (typeof text === "string" && isTransactionControl(text)) {
      throw queueErrors.error(
        "TUNTAS_TX_CONTROL",
        `ctx.tx refuses transaction control, got ${JSON.stringify(text.slice(0, 60))}`,
      );
    }
  }

  async function query(first: unknown, values?: unknown[]) {
    refuse(typeof first === "string" ? first : (first as { text?: unknown } | null)?.text);
    const on = await (opening ??= open());
    return on.query(first as never, values as never);
  }

  function release(broken: boolean): void {
    if (broken && client) dropClient(client);
    else client?.release();
    client = undefined;
  }

  async function rollback(): Promise<void> {
    closed = true;
    // A rollback before it had opened: wait for the opening, or its connection would stay out for ever.
    await opening?.catch(() => undefined);
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

  /** The acknowledgement and the commit go out together; nothing is done unless both took place. */
  async function acknowledge(on: PoolClient): Promise<Ending> {
    const results = await Promise.allSettled(
      inOneWrite(on, () => {
        const acknowledged = run(on, acknowledgement(claim));
        const inGroup = fifo && claim.groupId !== null;
        const refreshed = inGroup ? run(on, groupRefresh(claim.queueId, claim.groupId!)) : acknowledged;
        return [acknowledged, refreshed, on.query("commit")] as const;
      }),
    );
    const [first, , last] = results;
    if (first.status === "rejected" && codeOf(first.reason) === divisionByZero) return "lost";
    for (const result of results) if (result.status === "rejected") throw result.reason;
    // A transaction that had failed answers COMMIT with ROLLBACK.
    if (last.status === "fulfilled" && last.value.command === "COMMIT") return "committed";
    throw new Error("the transaction had failed before its commit");
  }

  async function commit(): Promise<Ending> {
    try {
      const on = await (opening ??= open());
      closed = true;
      const ending = await acknowledge(on);
      release(false);
      return ending;
    } catch (cause) {
      if (isConnectionLost(cause)) release(true);
      await rollback();
      if (refusal) return refusal;
      throw isCollision(cause) ? toCoded(cause) : cause;
    }
  }

  return {
    tx: inSchema({ query } as Queryable, database.schema, !database.pooled) as HandlerTx,
    isOpen: () => opening !== undefined,
    refusal: () => refusal,
    commit,
    rollback,
  };
}
