// What a handler gets beside its message. Everything that costs something is made at its first use.
import type { Log } from "../../engine/log.ts";
import type { Sql } from "../../pg/contract.ts";
import { handlerErrors, type HandlerTx, type Write } from "../../engine/handler/contract.ts";
import { handedOver } from "../../engine/handler/control.ts";
import type { HeldMessage } from "../contract.ts";
import type { HandlerTransaction } from "./transaction.ts";

export interface Context {
  /**
   * The attempt's own transaction, opened at its first statement. What is written through it commits together with
   * the command record and the acknowledgement, or not at all.
   */
  readonly tx: HandlerTx;
  /** Whether a statement of `tx` has run, so that locks may be held. */
  readonly transactionOpen: boolean;
  /** The database, for what must commit by itself before the handler goes on (`effect` of the ledger). */
  readonly database: Sql;
  /** Hands a statement over: it runs after the handler returns, in a commit shared with others, still all or nothing. */
  write(text: string, values?: readonly unknown[]): void;
  /** Aborts when the attempt times out, its message was lost to another owner, or the process stops. */
  readonly signal: AbortSignal;
  /** Carries queue, message id and correlation id. */
  readonly log: Log;
  /** 1 at the first receive. */
  readonly attempt: number;
  readonly messageId: string;
  /** Whose side effects they are, for the ledger: the message's id. */
  readonly caller: string;
  readonly correlationId: string | undefined;
  readonly groupId: string | undefined;
  readonly sentAtMs: number;
}

export interface ContextParts {
  readonly message: HeldMessage;
  readonly correlationId: string | undefined;
  readonly log: Log;
  readonly queueName: string;
  readonly database: Sql;
  readonly openTransaction: () => HandlerTransaction;
}

/** The context of one attempt, with what the worker needs of it afterwards. */
export class AttemptContext implements Context {
  readonly writes: Write[] = [];
  transaction: HandlerTransaction | undefined;
  private readonly parts: ContextParts;
  private controller: AbortController | undefined;
  private reason: unknown;
  private ended = false;

  constructor(parts: ContextParts) {
    this.parts = parts;
  }

  get tx(): HandlerTx {
    if (!this.transaction) {
      this.transaction = this.parts.openTransaction();
      if (this.ended) void this.transaction.rollback();
    }
    return this.transaction.tx;
  }

  get transactionOpen(): boolean {
    return this.transaction?.isOpen() ?? false;
  }

  get database(): Sql {
    return this.parts.database;
  }

  get signal(): AbortSignal {
    this.controller ??= new AbortController();
    if (this.reason !== undefined) this.controller.abort(this.reason);
    return this.controller.signal;
  }

  get log(): Log {
    const { log, queueName, message, correlationId } = this.parts;
    return log.child({
      queue: queueName,
      messageId: message.messageId,
      ...(correlationId !== undefined && { correlationId }),
    });
  }

  get attempt(): number {
    return this.parts.message.receives;
  }

  get messageId(): string {
    return this.parts.message.messageId;
  }

  get caller(): string {
    return this.parts.message.messageId;
  }

  get correlationId(): string | undefined {
    return this.parts.correlationId;
  }

  get groupId(): string | undefined {
    return this.parts.message.groupId ?? undefined;
  }

  get sentAtMs(): number {
    return this.parts.message.sentAtMs;
  }

  write(text: string, values: readonly unknown[] = []): void {
    if (this.ended)
      throw handlerErrors.error("TUNTAS_TX_CLOSED", "ctx.write was used after its attempt had ended");
    this.writes.push(handedOver(text, values));
  }

  /** From now on nothing more of the handler's may be written. */
  end(): void {
    this.ended = true;
  }

  abort(reason: unknown): void {
    this.reason = reason;
    this.controller?.abort(reason);
  }
}
