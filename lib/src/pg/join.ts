// Joining a transaction that belongs to the caller: a `pg` client in it is enough, whoever opened it. Statements are
// written with the schema name `tuntas.`; a client that serves another schema (a test's) says so.
import { catalogue } from "../core/error.ts";
import type { Queryable, Row, Sql, Statement } from "./contract.ts";
import { toCoded } from "./faults.ts";

/** Whatever runs one of our statements: the database, a transaction of ours, or a joined one. */
export type Runner = Pick<Sql, "run">;

/** An open transaction: a `pg` client (or anything with its `query`), or one of Tuntas's own. */
export type Transaction = Queryable | Runner;

export const joinErrors = catalogue({
  TUNTAS_TX_POOL: {
    meaning:
      "A pool was given where a transaction is needed; each statement would run on another connection.",
    remedy: "Take one client from the pool, begin a transaction on it, and give that client.",
  },
});

const schemaKey = Symbol.for("tuntas.schema");

/** Marks a client as one whose Tuntas tables live in another schema than `tuntas`. */
export const inSchema = (client: Queryable, schema: string): Queryable => ({
  query: (text, values) => client.query(text, values),
  ...{ [schemaKey]: schema },
});

const isPool = (tx: Queryable): boolean => "totalCount" in tx && "idleCount" in tx;

/** Runs our statements in the caller's transaction. Errors: TUNTAS_TX_POOL, and the database's coded ones. */
export function join(tx: Transaction): Runner {
  if ("run" in tx) return tx;
  if (isPool(tx)) throw joinErrors.error("TUNTAS_TX_POOL", "expected a client in a transaction, got a pool");
  const schema = (tx as { [schemaKey]?: string })[schemaKey] ?? "tuntas";
  return {
    async run<R extends Row>({ text }: Statement, values: readonly unknown[] = []) {
      const placed = schema === "tuntas" ? text : text.replaceAll(/\btuntas\./g, `${schema}.`);
      try {
        const { rows } = await tx.query(placed, values as unknown[]);
        return rows as R[];
      } catch (cause) {
        throw toCoded(cause);
      }
    },
  };
}
