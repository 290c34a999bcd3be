// What the handler of a task gets that came from a machine elsewhere: the same as in this database, out of what the message says
// and of the attempt at it.
import type { HandlerTx } from "../../engine/handler/contract.ts";
import type { Log } from "../../engine/log.ts";
import type { Sql } from "../../pg/contract.ts";
import type { Context } from "../../queue/index.ts";
import type { TaskContext } from "../declaration.ts";
import { correlationOf } from "../state.ts";
import type { TaskMessage } from "./contract.ts";

export interface RemoteParts {
  readonly workflowName: string;
  readonly message: TaskMessage;
  readonly input: unknown;
  readonly visit: string;
  readonly reference: string;
  readonly attempt: Context;
  readonly beat: () => void;
}

export class RemoteContext implements TaskContext {
  noted: Readonly<Record<string, unknown>> | undefined;
  readonly #parts: RemoteParts;
  readonly #lost = new AbortController();
  #signal: AbortSignal | undefined;

  constructor(parts: RemoteParts) {
    this.#parts = parts;
  }

  get tx(): HandlerTx {
    return this.#parts.attempt.tx;
  }

  get transactionOpen(): boolean {
    return this.#parts.attempt.transactionOpen;
  }

  write(text: string, values?: readonly unknown[]): void {
    this.#parts.attempt.write(text, values);
  }

  get database(): Sql {
    return this.#parts.attempt.database;
  }

  get signal(): AbortSignal {
    return (this.#signal ??= AbortSignal.any([this.#parts.attempt.signal, this.#lost.signal]));
  }

  get log(): Log {
    const { attempt, message, workflowName } = this.#parts;
    return attempt.log.child({
      workflowName,
      executionId: message.execution,
      stateName: message.state,
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
    const { execution, executionName, startedAt } = this.#parts.message;
    return { arn: execution, name: executionName, startedAt };
  }

  get workflowName(): string {
    return this.#parts.workflowName;
  }

  get stateName(): string {
    return this.#parts.message.state;
  }

  get idempotencyKey(): string {
    return this.#parts.visit;
  }

  get attempt(): number {
    return this.#parts.message.retries + 1;
  }

  get caller(): string {
    return this.#parts.message.execution;
  }

  get correlationId(): string {
    return correlationOf(this.#parts.input, this.#parts.message.executionName);
  }

  get taskToken(): string | undefined {
    const { waits, token } = this.#parts.message;
    return waits ? token : undefined;
  }

  get tokenReference(): string | undefined {
    return this.#parts.message.waits ? this.#parts.reference : undefined;
  }

  abort(reason: unknown): void {
    this.#lost.abort(reason);
  }
}
