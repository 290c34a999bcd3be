// What a handler gets beside its input. Everything that costs something is made at its first use.
import type { ExecutionIdentity, StartTask } from "../../../asl/contract.ts";
import { handlerErrors, type HandlerTx, type Write } from "../../../engine/handler/contract.ts";
import { handedOver } from "../../../engine/handler/control.ts";
import { openTransaction, type HandlerTransaction } from "../../../engine/handler/transaction.ts";
import type { Log } from "../../../engine/log.ts";
import type { Sql } from "../../../pg/contract.ts";
import type { Database } from "../../../pg/database.ts";
import type { Line } from "../../../pg/lease.ts";
import type { TaskContext } from "../../declaration.ts";
import { correlationOf } from "../../state.ts";

export interface ContextParts {
  readonly database: Database;
  readonly log: Log;
  readonly execution: ExecutionIdentity;
  readonly task: StartTask;
  readonly input: unknown;
  readonly timeoutMs: number;
  /** Counts it while it waits for a connection. */
  readonly line: Line;
  /** The token that answers; undefined where the state does not wait for one. */
  readonly taskToken: string | undefined;
  readonly beat: () => void;
}

/** Names one visit of a state within its execution, whatever the attempt. */
export const visitOf = ({ stateName, entry }: StartTask): string => `${stateName}#${entry}`;

/** The context of one attempt, with what the engine needs of it afterwards. */
export class OwnContext implements TaskContext {
  readonly writes: Write[] = [];
  transaction: HandlerTransaction | undefined;
  noted: Readonly<Record<string, unknown>> | undefined;
  readonly #parts: ContextParts;
  #controller: AbortController | undefined;
  #reason: unknown;
  #ended = false;

  constructor(parts: ContextParts) {
    this.#parts = parts;
  }

  get tx(): HandlerTx {
    if (!this.transaction) {
      const { database, timeoutMs, line } = this.#parts;
      this.transaction = openTransaction({ database, timeoutMs, line });
      if (this.#ended) void this.transaction.rollback();
    }
    return this.transaction.tx;
  }

  get transactionOpen(): boolean {
    return this.transaction?.isOpen() ?? false;
  }

  write(text: string, values: readonly unknown[] = []): void {
    if (this.#ended)
      throw handlerErrors.error("TUNTAS_TX_CLOSED", "ctx.write was used after its attempt had ended");
    this.writes.push(handedOver(text, values));
  }

  get database(): Sql {
    return this.#parts.database;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    return this.#controller.signal;
  }

  get log(): Log {
    const { log, execution, task } = this.#parts;
    return log.child({
      workflowName: execution.machineName,
      executionId: execution.id,
      stateName: task.stateName,
      correlationId: this.correlationId,
    });
  }

  note(facts: Readonly<Record<string, unknown>>): void {
    this.noted = { ...this.noted, ...facts };
  }

  heartbeat(): void {
    this.#parts.beat();
  }

  get execution(): TaskContext["execution"] {
    const { id, name, startTime } = this.#parts.execution;
    return { arn: id, name, startedAt: startTime };
  }

  get workflowName(): string {
    return this.#parts.execution.machineName;
  }

  get stateName(): string {
    return this.#parts.task.stateName;
  }

  get idempotencyKey(): string {
    const { execution, task } = this.#parts;
    return `${execution.id}/${visitOf(task)}`;
  }

  get attempt(): number {
    return this.#parts.task.attempt + 1;
  }

  get caller(): string {
    return this.#parts.execution.id;
  }

  get correlationId(): string {
    return correlationOf(this.#parts.input, this.#parts.execution.name);
  }

  get taskToken(): string | undefined {
    return this.#parts.taskToken;
  }

  get tokenReference(): string | undefined {
    return this.#parts.taskToken === undefined ? undefined : this.#parts.task.token;
  }

  /** From now on nothing more of the handler's may be written. */
  end(): void {
    this.#ended = true;
  }

  abort(reason: unknown): void {
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}
