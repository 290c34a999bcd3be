// What the handler of a partition gets: the attempt's own context, and whose part it is.
import type { Log } from "../engine/log.ts";
import type { Sql } from "../pg/contract.ts";
import type { HandlerTx, Write } from "../engine/handler/contract.ts";
import { handedOver } from "../engine/handler/control.ts";
import type { CommittingContext } from "../queue/index.ts";
import type { JobFacts, PartitionContext } from "./contract.ts";

interface Parts extends Pick<PartitionContext, "signal" | "attempt" | "number" | "idempotencyKey"> {
  readonly context: CommittingContext;
  readonly job: JobFacts;
}

export class WorkContext implements PartitionContext<any> {
  readonly context: CommittingContext;
  readonly job: JobFacts<any>;
  readonly number: number;
  readonly attempt: number;
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
  readonly writes: Write[] = [];

  constructor({ context, job, number, attempt, idempotencyKey, signal }: Parts) {
    this.context = context;
    this.attempt = attempt;
    this.job = job;
    this.number = number;
    this.idempotencyKey = idempotencyKey;
    this.signal = signal;
  }

  get tx(): HandlerTx {
    return this.context.tx;
  }

  get transactionOpen(): boolean {
    return this.context.transactionOpen;
  }

  get database(): Sql {
    return this.context.database;
  }

  get caller(): string {
    return this.idempotencyKey;
  }

  get log(): Log {
    const { id, batch } = this.job;
    return this.context.log.child({ batch, jobId: id, partition: this.number });
  }

  readonly write = (text: string, values: readonly unknown[] = []): void => {
    this.writes.push(handedOver(text, values));
  };
}
