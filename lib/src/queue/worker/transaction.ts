// A handler's own transaction. It begins with the command record, so that a second attempt under the same key waits for
// the first (briefly) and then finds it; it ends with the acknowledgement, whose fence a late owner no longer holds.
import type { HandlerTx } from "../../engine/handler/contract.ts";
import { actingFor } from "../../engine/handler/tenant.ts";
import { fenced, FenceLost, openTransaction as openAny } from "../../engine/handler/transaction.ts";
import type { Database } from "../../pg/database.ts";
import { isCollision, toCoded } from "../../pg/faults.ts";
import type { CommandKey } from "../store/command.ts";
import { commandRecord } from "../store/command.ts";
import { loosenClaims } from "../store/settle.ts";
import type { EndingClaim, Endings } from "./source.ts";

/** How a transaction ended. All but `committed` wrote nothing; `lost`: another owner has the message. */
export type Ending = "committed" | "lost" | Refusal;

/** Why a transaction would not begin: its key has a record already, or somebody is about to write one. */
export type Refusal = "duplicate" | "busy";

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
  readonly claim: EndingClaim;
  readonly endings: Endings;
  readonly fifo: boolean;
  readonly command: CommandKey | undefined;
  readonly timeoutMs: number;
  /** For whom it acts; undefined where its queue has no tenants. */
  readonly tenant: string | undefined;
}

const lockTimeout = "55P03";
const divisionByZero = "22012";

export function openTransaction(parts: TransactionParts): HandlerTransaction {
  const { database, claim, endings, fifo, command, timeoutMs, tenant } = parts;
  let refusal: Refusal | undefined;

  function refused(cause: unknown): unknown {
    const { code } = cause as { code?: unknown };
    if (code === lockTimeout) refusal = "busy";
    if (code !== divisionByZero) return cause;
    refusal = "duplicate";
    return new Error("its idempotency key was processed before");
  }

  const { tx, isOpen, rollback, commit } = openAny({
    database,
    timeoutMs,
    opening: [
      ...(command ? [{ ...commandRecord(command), meaning: refused }] : []),
      ...(tenant === undefined ? [] : [actingFor(tenant)]),
    ],
    ...(claim.bundled && { before: () => loosenClaims(database, [claim]) }),
  });

  return {
    tx,
    isOpen,
    rollback,
    refusal: () => refusal,
    async commit() {
      try {
        await commit([fenced(endings.one(claim)), ...(fifo ? endings.after([claim]) : [])]);
        return "committed";
      } catch (cause) {
        if (cause instanceof FenceLost) return "lost";
        if (refusal) return refusal;
        throw isCollision(cause) ? toCoded(cause) : cause;
      }
    },
  };
}
