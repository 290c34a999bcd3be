// What handlers of every kind get to write with: a transaction of their own, or statements that they hand over.
import { catalogue } from "../../core/error.ts";

/** A `pg` client in a transaction of the attempt's own: Drizzle, Kysely, Knex and TypeORM join it. */
export interface HandlerTx {
  query(text: string, values?: unknown[]): Promise<{ rows: any[]; rowCount: number | null }>;
  query(config: {
    text: string;
    values?: unknown[];
    name?: string;
    rowMode?: "array";
  }): Promise<{ rows: any[]; rowCount: number | null }>;
}

/** A statement that was handed over: it runs after the handler returns, in a commit shared with others. */
export interface Write {
  readonly text: string;
  readonly values: readonly unknown[];
}

export const handlerErrors = catalogue({
  TUNTAS_TX_CONTROL: {
    meaning: "A handler tried to begin, commit or roll back on ctx.tx, which Tuntas commits for it.",
    remedy: "Return to commit, throw to roll back. Savepoints are allowed in ctx.tx, not in ctx.write.",
  },
  TUNTAS_TX_CLOSED: {
    meaning: "ctx.tx or ctx.write was used after the attempt had ended; nothing of that was written.",
    remedy: "Await everything the handler starts before it returns.",
  },
});
