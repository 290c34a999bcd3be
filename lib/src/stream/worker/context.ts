// What a handler gets beside its record. The records of a batch share the transaction, the statements that they hand over,
// and the signal; everything that costs something is made at its first use.
import { handlerErrors, type HandlerTx, type Write } from "../../engine/handler/contract.ts";
import { handedOver } from "../../engine/handler/control.ts";
import { openTransaction, type HandlerTransaction } from "../../engine/handler/transaction.ts";
import type { Log } from "../../engine/log.ts";
import type { Sql } from "../../pg/contract.ts";
import type { Database } from "../../pg/database.ts";
import type { StreamContext } from "../contract.ts";

export interface BatchDeps {
  readonly database: Database;
  readonly log: Log;
  readonly timeoutMs: number;
}

/** What the records of one batch share, with what the worker needs of it afterwards. */
export class Batch {
  readonly deps: BatchDeps;
  readonly writes: Write[] = [];
  transaction: HandlerTransaction | undefined;
  #controller: AbortController | undefined;
  #reason: unknown;
  #ended = false;

  constructor(deps: BatchDeps) {
    this.deps = deps;
  }

  get tx(): HandlerTx {
    if (!this.transaction) {
      this.transaction = openTransaction(this.deps);
      if (this.#ended) void this.transaction.rollback();
    }
    return this.transaction.tx;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    return this.#controller.signal;
  }

  write(text: string, values: readonly unknown[]): void {
    if (this.#ended)
      throw handlerErrors.error("TUNTAS_TX_CLOSED", "ctx.write was used after its batch had ended");
    this.writes.push(handedOver(text, values));
  }

  /** From now on nothing more of the handler's may be written. */
  end(): void {
    this.#ended = true;
  }

  abort(reason: unknown): void {
    this.#reason = reason;
    this.#controller?.abort(reason);
  }

  async undo(): Promise<void> {
    this.end();
    await this.transaction?.rollback();
  }
}

/** Which record it is about. */
export interface About {
  readonly stream: string;
  readonly consumer: string;
  readonly caller: string;
  readonly attempt: number;
  readonly replayed: boolean;
}

export class RecordContext implements StreamContext {
  readonly #batch: Batch;
  readonly #about: About;

  constructor(batch: Batch, about: About) {
    this.#batch = batch;
    this.#about = about;
  }

  get tx(): HandlerTx {
    return this.#batch.tx;
  }

  get transactionOpen(): boolean {
    return this.#batch.transaction?.isOpen() ?? false;
  }

  get database(): Sql {
    return this.#batch.deps.database;
  }

  write(text: string, values: readonly unknown[] = []): void {
    this.#batch.write(text, values);
  }

  get signal(): AbortSignal {
    return this.#batch.signal;
  }

  get log(): Log {
    const { stream, consumer, caller: record } = this.#about;
    return this.#batch.deps.log.child({ stream, consumer, record });
  }

  get attempt(): number {
    return this.#about.attempt;
  }

  get caller(): string {
    return this.#about.caller;
  }

  get replayed(): boolean {
    return this.#about.replayed;
  }
}
