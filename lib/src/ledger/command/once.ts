// A mutation that happens once, however often it is asked for. The record of it is written in the mutation's own
// transaction, so a crash leaves both or neither, and a lost answer is given again from the record.
import { refuseUnknown, type NamesOf } from "../../core/options.ts";
import type { Duration } from "../../core/duration.ts";
import { toMs } from "../../core/duration.ts";
import type { TuntasError } from "../../core/error.ts";
import type { Runner, Transaction } from "../../pg/join.ts";
import { join } from "../../pg/join.ts";
import { checkKey, requestHash, resultText } from "../canonical.ts";
import { ledgerErrors } from "../contract.ts";
import { ledgerSignals } from "../signals.ts";
import type { CommandRow } from "./store.ts";
import { lookAt, writeCommand } from "./store.ts";

export interface OnceOptions {
  /** What the key belongs to, such as `orders.create`; `queue:` and `http:` scopes are Tuntas's own. */
  readonly scope: string;
  /** Stable over every retry: the client's idempotency key, or a `stepKey`. */
  readonly key: string;
  /** What was asked for. The same key with another request is a conflict. */
  readonly request: unknown;
  /** How long the result is kept; 30 days by default. */
  readonly retention?: Duration;
}

/** A business no as the result of a command: stored, and given to every repeat. Make it with `rejection`. */
export class Rejection<Reason> {
  readonly reason: Reason;
  constructor(reason: Reason) {
    this.reason = reason;
  }
}

/** Returned by a command's function: its writes commit, and the no is the stored result. No failure, no retry. */
export const rejection = <Reason>(reason: Reason): Rejection<Reason> => new Rejection(reason);

type ResultOf<T> =
  T extends Rejection<infer Reason>
    ? { readonly outcome: "rejected"; readonly result: Reason }
    : { readonly outcome: "done"; readonly result: T };

/** `created`: it was done now. `duplicate`: it was done before, and this is the first result. */
export type OnceAnswer<T> =
  | ({ readonly status: "created" | "duplicate" } & ResultOf<T>)
  | {
      readonly status: "conflict";
      readonly storedHash: string;
      readonly requestHash: string;
      readonly error: TuntasError;
    };

const text = (row: CommandRow): unknown => (row.result === null ? null : JSON.parse(row.result));

/** Results come back through JSON the first time too, so the first answer and its repeats are equal. */
const answer = <T>(status: "created" | "duplicate", row: CommandRow): OnceAnswer<T> =>
  ({ status, outcome: row.outcome, result: text(row) }) as unknown as OnceAnswer<T>;

function repeat<T>({ scope, key }: OnceOptions, row: CommandRow, hash: string): OnceAnswer<T> {
  if (row.requestHash === hash) {
    ledgerSignals.publish("command.duplicate", { scope, key });
    return answer("duplicate", row);
  }
  ledgerSignals.publish("command.conflict", { scope, key });
  const message = `command ${scope} ${key}: expected the request with hash ${row.requestHash}, got one with hash ${hash}`;
  const error = ledgerErrors.error("TUNTAS_COMMAND_CONFLICT", message, {
    details: { scope, key, storedHash: row.requestHash, requestHash: hash },
  });
  return { status: "conflict", storedHash: row.requestHash, requestHash: hash, error };
}

interface Performance<T> {
  readonly hash: string;
  readonly begun: string;
  readonly fn: () => Promise<T> | T;
}

async function perform<T>(
  tx: Runner,
  options: OnceOptions,
  { hash, begun, fn }: Performance<T>,
): Promise<OnceAnswer<T>> {
  const { scope, key } = options;
  const value = await fn();
  const rejected = value instanceof Rejection;
  const row: CommandRow = {
    requestHash: hash,
    outcome: rejected ? "rejected" : "done",
    result: resultText(rejected ? value.reason : value),
  };
  const retentionMs = toMs(options.retention ?? "30d", "once: retention");
  const written = await writeCommand(tx, { scope, key, ...row, retentionMs, begun });
  if (written === "another transaction") {
    throw ledgerErrors.error(
      "TUNTAS_TX_MISSING",
      `command ${scope} ${key}: expected one open transaction, got a client without`,
    );
  }
  if (written === "taken") throw inProgress(options, "another transaction committed it a moment before");
  return answer("created", row);
}

const inProgress = ({ scope, key }: OnceOptions, why: string) =>
  ledgerErrors.error(
    "TUNTAS_COMMAND_IN_PROGRESS",
    `command ${scope} ${key}: expected a free key, but ${why}`,
  );

const optionNames: NamesOf<OnceOptions> = { scope: true, key: true, request: true, retention: true };

/**
 * Runs `fn` at most once for a key, in the caller's transaction: let an error roll the transaction back. What `fn`
 * returns is stored as JSON text. Errors: TUNTAS_COMMAND_IN_PROGRESS (retryable, at once, never a wait),
 * TUNTAS_TX_MISSING, TUNTAS_REQUEST_INVALID, and whatever `fn` throws.
 */
export async function once<T>(
  tx: Transaction,
  options: OnceOptions,
  fn: () => Promise<T> | T,
): Promise<OnceAnswer<T>> {
  refuseUnknown("once", options, optionNames);
  checkKey("scope", options.scope);
  checkKey("key", options.key);
  const hash = requestHash(options.request);
  const runner = join(tx);
  const { free, begun, row } = await lookAt(runner, options);
  if (row) return repeat(options, row, hash);
  if (free) return perform(runner, options, { hash, begun, fn });
  // Whoever had the lock may have committed since, or may only be reading; a second look has a newer snapshot.
  const again = await lookAt(runner, options);
  if (again.row) return repeat(options, again.row, hash);
  if (again.free) return perform(runner, options, { hash, begun: again.begun, fn });
  throw inProgress(options, "another transaction is at it");
}
