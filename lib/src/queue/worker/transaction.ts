// A handler's own transaction. It begins with the command record, so that a second attempt under the same key waits for
// the first (briefly) and then finds it; it ends with the acknowledgement, whose fence a late owner no longer holds.
import type { PoolClient } from "pg";
import type { Statement } from "../../pg/contract.ts";
import type { Database } from "../../pg/database.ts";
import { isCollision, isConnectionLost, toCoded } from "../../pg/faults.ts";
import type { Claim } from "../contract.ts";
import { queueErrors } from "../contract.ts";
import type { CommandKey } from "../store/settle.ts";
import { acknowledgement, commandRecord, groupRefresh } from "../store/settle.ts";
import type { HandlerTx } from "./context.ts";

/** How a transaction ended. `lost`: another owner has the message; nothing was written. */
export type Ending = "committed" | "duplicate" | "lost";

export interface HandlerTransaction {
  readonly tx: HandlerTx;
  /** Commits with the acknowledgement. Rejects where the commit failed; whether it took place is then not known. */
  commit(): Promise<Ending>;
  rollback(): Promise<void>;
}

export interface TransactionParts {
  readonly database: Database;
  readonly claim: Claim & { readonly groupId: string | null };
  readonly fifo: boolean;
  readonly command: CommandKey | undefined;
}

// Nothing waits inside the database without limit; a second owner of one key finds out within this time.
const begin = "begin; set local lock_timeout = '3s'";

const control = /(^|;)\s*(begin|commit|end|abort|start\s+transaction|prepare\s+transaction|rollback(?!(\s+(work|transaction))?\s+to))\b/i;
const quoted = /'(?:[^']|'')*'|"(?:[^"]|"")*"|\$([A-Za-z_]*)\$[\s\S]*?\$\1\$|--[^\n]*|\/\*[\s\S]*?\*\//g;

/** Whether the text would begin or end a transaction; quoted text and comments do not count. */
export const isTransactionControl = (text: string): boolean => control.test(text.replaceAll(quoted, " "));

const isFenceLost = (cause: unknown): boolean => (cause as { code?: unknown }).code === "22012";

class Duplicate extends Error {}

export function openTransaction(parts: TransactionParts): HandlerTransaction {
  const { database, claim, fifo, command } = parts;
  let client: PoolClient | undefined;
  let closed = false;
  let opening: Promise<PoolClient> | undefined;
  let duplicate = false;

  const run = (on: PoolClient, { statement, values }: { statement: Statement; values: unknown[] }) =>
    on.query({ ...database.prepare(statement), values });

  async function open(): Promise<PoolClient> {
    client = await database.handlerClient();
    const begun = client.query(begin);
    const recorded = command ? run(client, commandRecord(command)) : undefined;
    await begun;
    if (recorded && (await recorded).rowCount === 0) {
      duplicate = true;
      throw new Duplicate("its idempotency key was processed before");
    }
    return client;
  }

  function refuse(text: unknown): void {
    if (closed) throw queueErrors.error("TUNTAS_TX_CLOSED", "ctx.tx was used after its attempt had ended");
    if (typeof text === "string" && isTransactionControl(text)) {
      throw queueErrors.error("TUNTAS_TX_CONTROL", `ctx.tx refuses transaction control, got ${JSON.stringify(text.slice(0, 60))}`);
    }
  }

  async function query(first: unknown, values?: unknown[]) {
    refuse(typeof first === "string" ? first : (first as { text?: unknown } | null)?.text);
    opening ??= open();
    const on = await opening;
    return on.query(first as never, values as never);
  }

  async function giveBack(broken: boolean): Promise<void> {
    closed = true;
    // A rollback before it had opened: wait for the opening, or its connection would stay out for ever.
    await opening?.catch(() => undefined);
    client?.release(broken);
    client = undefined;
  }

  async function rollback(): Promise<void> {
    if (closed) return;
    closed = true;
    await opening?.catch(() => undefined);
    // A statement may still be running (the handler timed out in it): then the connection is dropped, not awaited.
    const ended = await Promise.race([
      client?.query("rollback").then(() => true, () => false) ?? Promise.resolve(true),
      new Promise<false>((resolve) => setTimeout(resolve, 500, false).unref()),
    ]);
    await giveBack(!ended);
  }

  async function commit(): Promise<Ending> {
    opening ??= open();
    try {
      const on = await opening;
      closed = true;
      const acknowledged = run(on, acknowledgement(claim));
      const refreshed = fifo && claim.groupId !== null ? run(on, groupRefresh(claim.queueId, claim.groupId)) : undefined;
      const committed = on.query("commit");
      await Promise.all([acknowledged, refreshed, committed].map((each) => each?.catch(() => undefined)));
      await Promise.all([acknowledged, refreshed]);
      // A transaction that had failed answers COMMIT with ROLLBACK.
      if ((await committed).command !== "COMMIT") throw new Error("the transaction had failed before its commit");
      await giveBack(false);
      return "committed";
    } catch (cause) {
      closed = false;
      if (isConnectionLost(cause)) await giveBack(true);
      else await rollback();
      if (duplicate) return "duplicate";
      if (isFenceLost(cause)) return "lost";
      throw isCollision(cause) ? toCoded(cause) : cause;
    }
  }

  return { tx: { query } as HandlerTx, commit, rollback };
}

export const isDuplicate = (cause: unknown): boolean => cause instanceof Duplicate;
