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

const markKey = Symbol.for("tuntas.transaction");

/** What is known of a client that is not to be guessed. */
interface Mark {
  readonly schema: string;
  /** Whether prepared statements stay with it; found out where it is not given. */
  readonly prepares: boolean | undefined;
  readonly client: Queryable;
}

/** Marks a client as one whose Tuntas tables live in another schema than `tuntas`. */
export function inSchema(client: Queryable, schema: string, prepares?: boolean): Queryable {
  const mark: Mark = { schema, prepares, client };
  const marked = { query: (text: string, values?: unknown[]) => client.query(text, values), [markKey]: mark };
  return marked;
}

const markOf = (tx: Queryable): Mark =>
  (tx as { [markKey]?: Mark })[markKey] ?? { schema: "tuntas", prepares: undefined, client: tx };

const isPool = (tx: Queryable): boolean => "totalCount" in tx && "idleCount" in tx;

const found = new WeakMap<Queryable, Promise<boolean>>();

/** A pooler answers the start-up with a process id of its own making; what is no `pg` client has none. */
async function askWhetherPrepares(client: Queryable): Promise<boolean> {
  const { processID } = client as { processID?: unknown };
  if (typeof processID !== "number") return false;
  const { rows } = await client.query("select pg_backend_pid() as pid");
  return rows[0].pid === processID;
}

/** Whether the client keeps prepared statements; asked once in its life. They save about half of a short statement's time. */
function prepares({ prepares, client }: Mark): Promise<boolean> | boolean {
  if (prepares !== undefined) return prepares;
  const known = found.get(client) ?? askWhetherPrepares(client);
  found.set(client, known);
  return known;
}

type Config = (config: {
  name?: string;
  text: string;
  values: readonly unknown[];
}) => ReturnType<Queryable["query"]>;

/** Runs our statements in the caller's transaction. Errors: TUNTAS_TX_POOL, and the database's coded ones. */
export function join(tx: Transaction): Runner {
  if ("run" in tx) return tx;
  if (isPool(tx)) throw joinErrors.error("TUNTAS_TX_POOL", "expected a client in a transaction, got a pool");
  const mark = markOf(tx);
  return {
    async run<R extends Row>({ name, text: written }: Statement, values: readonly unknown[] = []) {
      const text = mark.schema === "tuntas" ? written : written.replaceAll(/\btuntas\./g, `${mark.schema}.`);
      try {
        const prepared = await prepares(mark);
        const query = tx.query.bind(tx);
        const { rows } = await (prepared
          ? (query as unknown as Config)({ name, text, values })
          : query(text, values as unknown[]));
        return rows as R[];
      } catch (cause) {
        throw toCoded(cause);
      }
    },
  };
}
