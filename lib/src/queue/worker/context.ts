// What a handler gets beside its message. Everything that costs something is made at its first use.
import type { Log } from "../../engine/log.ts";
import type { Sql } from "../../pg/contract.ts";
import type { Database } from "../../pg/database.ts";
import { handlerErrors, type HandlerTx, type Write } from "../../engine/handler/contract.ts";
import { handedOver } from "../../engine/handler/control.ts";
import { writesFor } from "../../engine/handler/tenant.ts";
import type { QueueRecord } from "../contract.ts";
import { textsOf } from "../attributes.ts";
import type { WorkerDefinition } from "../declaration.ts";
import type { Taken } from "./intake.ts";
import type { Endings } from "./source.ts";
import { openTransaction, type Ending, type HandlerTransaction } from "./transaction.ts";
import type { Writer } from "./writes.ts";

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
  /** Carries queue, message id, correlation id, and the tenant where the queue declares that. */
  readonly log: Log;
  /** 1 at the first receive. */
  readonly attempt: number;
  readonly messageId: string;
  /** Whose side effects they are, for the ledger: the message's id. */
  readonly caller: string;
  readonly correlationId: string | undefined;
  /** The message's attributes that are text. */
  readonly attributes: Readonly<Record<string, string>>;
  /** Whose message it is, where its queue declares that; in `tx` and `write` the database knows it as `app.tenant`. */
  readonly tenant: string | undefined;
  readonly groupId: string | undefined;
  readonly sentAtMs: number;
}

/** For a room whose handlers do something where what they handed over fails. */
export interface CommittingContext extends Context {
  /**
   * Commits now what was handed over, with the end of the message; nothing more can be written. Rejects with what failed: then
   * nothing was written, and the handler may say what comes of it.
   */
  commitWrites(): Promise<Ending>;
}

/** What a context needs of its worker. */
export interface ContextDeps {
  readonly database: Database;
  readonly log: Log;
  readonly queue: QueueRecord;
  readonly worker: WorkerDefinition;
  readonly endings: Endings;
  readonly writer: Writer;
  readonly timeoutMs: number;
}

const noWrites: readonly Write[] = [];

/** Statements with the end of the message, in a commit shared with others. Rejects with what failed. */
export async function commitShared(
  { writer, queue, timeoutMs }: Pick<ContextDeps, "writer" | "queue" | "timeoutMs">,
  { held: claim, command }: Pick<Taken, "held" | "command">,
  writes: readonly Write[],
): Promise<Ending> {
  const ending = await writer.add({ claim, fifo: queue.fifo, command, writes, timeoutMs });
  if (ending.kind === "failed") throw ending.cause;
  return ending.kind;
}

/** The context of one attempt, with what the worker needs of it afterwards. */
export class AttemptContext implements CommittingContext {
  transaction: HandlerTransaction | undefined;
  /** Set once the handler has asked for it. */
  committing: Promise<Ending> | undefined;
  private readonly deps: ContextDeps;
  private readonly item: Taken;
  private handed: Write[] | undefined;
  private controller: AbortController | undefined;
  private reason: unknown;
  private ended = false;

  constructor(deps: ContextDeps, item: Taken) {
    this.deps = deps;
    this.item = item;
  }

  get writes(): readonly Write[] {
    return this.handed ? writesFor(this.tenant, this.handed) : noWrites;
  }

  /** Whether nothing of the handler's is to be committed. */
  get wroteNothing(): boolean {
    return this.transaction === undefined && this.handed === undefined;
  }

  get tx(): HandlerTx {
    if (!this.transaction) {
      const { database, queue, endings, timeoutMs } = this.deps;
      const { held, command } = this.item;
      this.transaction = openTransaction({
        database,
        claim: held,
        endings,
        fifo: queue.fifo,
        command,
        timeoutMs,
        tenant: this.tenant,
      });
      if (this.ended) void this.transaction.rollback();
    }
    return this.transaction.tx;
  }

  get transactionOpen(): boolean {
    return this.transaction?.isOpen() ?? false;
  }

  get database(): Sql {
    return this.deps.database;
  }

  get signal(): AbortSignal {
    this.controller ??= new AbortController();
    if (this.reason !== undefined) this.controller.abort(this.reason);
    return this.controller.signal;
  }

  get log(): Log {
    const { log, queue } = this.deps;
    const { held, correlationId } = this.item;
    const { tenant } = this;
    return log.child({
      queue: queue.name,
      messageId: held.messageId,
      ...(correlationId !== undefined && { correlationId }),
      ...(tenant !== undefined && { tenant }),
    });
  }

  get attempt(): number {
    return this.item.held.receives;
  }

  get messageId(): string {
    return this.item.held.messageId;
  }

  get caller(): string {
    return this.item.held.messageId;
  }

  get correlationId(): string | undefined {
    return this.item.correlationId;
  }

  get attributes(): Readonly<Record<string, string>> {
    return textsOf(this.item.held.attributes);
  }

  get tenant(): string | undefined {
    return this.item.tenant;
  }

  get groupId(): string | undefined {
    return this.item.held.groupId ?? undefined;
  }

  get sentAtMs(): number {
    return this.item.held.sentAtMs;
  }

  write(text: string, values: readonly unknown[] = []): void {
    if (this.ended)
      throw handlerErrors.error("TUNTAS_TX_CLOSED", "ctx.write was used after its attempt had ended");
    (this.handed ??= []).push(handedOver(text, values));
  }

  commitWrites(): Promise<Ending> {
    this.committing ??= this.commitHanded();
    return this.committing;
  }

  private async commitHanded(): Promise<Ending> {
    const { writes } = this;
    this.end();
    return commitShared(this.deps, this.item, writes);
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
