// A request's own transaction. It opens at its first statement, or before the handler where a key must be held, and
// commits before the answer goes out, so that nobody is told of what did not happen.
import { codedDatabaseError, handlerErrors, isTransactionControl, type Database } from "tuntas";
import { actingFor } from "tuntas/access";
import { inSchema } from "tuntas/ledger";
import { httpErrors, type RequestTx } from "./contract.ts";

/** A statement with the schema name `tuntas.`, and its values. */
export interface Bound {
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
}

type Client = Awaited<ReturnType<Database["handlerClient"]>>;

export interface RequestTransaction {
  readonly tx: RequestTx;
  readonly isOpen: boolean;
  /** Runs statements of Tuntas in it, sent together; opens it if need be. */
  run(statements: readonly Bound[]): Promise<any[][]>;
  /** Commits, after these last statements. */
  commit(last: readonly Bound[]): Promise<void>;
  rollback(): Promise<void>;
}

const giveUpMs = 500;

/** By its statement_timeout, which is the request's budget. */
const isCancelled = (cause: unknown): boolean => (cause as { code?: unknown } | null)?.code === "57014";

export interface RequestTransactionOptions {
  readonly database: Database;
  readonly budgetMs: number;
  /** For whom it acts: policies of the application's tables may ask for it. */
  readonly tenant: string | undefined;
}

export function openRequestTransaction(options: RequestTransactionOptions): RequestTransaction {
  const { database, budgetMs, tenant } = options;
  let client: Client | undefined;
  let opening: Promise<Client> | undefined;
  let closed = false;

  /** Its first statement goes out together with what follows. */
  async function open(): Promise<Client> {
    // Given up in time to say so: requests that hold one connection and ask for another would all wait for each other.
    client = await database.handlerClient(Math.max(0.8 * budgetMs, budgetMs - giveUpMs));
    const begun = client.query(
      `begin; set local lock_timeout = '3s'; set local statement_timeout = ${Math.max(1, Math.ceil(budgetMs))}`,
    );
    begun.catch(() => undefined); // the next statement fails for the same reason, and is awaited
    if (tenant !== undefined) {
      const { statement, values } = actingFor(tenant);
      send(client, { ...statement, values: [...values] }).catch(() => undefined);
    }
    return client;
  }

  const ready = (): Promise<Client> => (opening ??= open());
  const send = (on: Client, { name, text, values }: Bound) =>
    on.query({ ...database.prepare({ name, text }), values });

  function refuse(text: string): void {
    if (closed)
      throw handlerErrors.error(
        "TUNTAS_TX_CLOSED",
        "request.tx was used after its request had been answered",
      );
    if (isTransactionControl(text))
      throw handlerErrors.error(
        "TUNTAS_TX_CONTROL",
        `request.tx refuses transaction control, got ${JSON.stringify(text.slice(0, 60))}`,
      );
  }

  async function guarded<T>(work: (on: Client) => Promise<T>): Promise<T> {
    try {
      return await work(await ready());
    } catch (cause) {
      if (!isCancelled(cause)) throw codedDatabaseError(cause);
      throw httpErrors.error("TUNTAS_HTTP_BUDGET", "a statement took longer than the request's budget", {
        cause,
      });
    }
  }

  async function query(text: string, values?: unknown[]) {
    refuse(text);
    return guarded((on) => on.query(text, values));
  }

  function release(broken: boolean): void {
    client?.release(broken);
    client = undefined;
  }

  return {
    tx: inSchema({ query }, database.schema) as RequestTx,
    get isOpen() {
      return opening !== undefined;
    },
    run: (statements) =>
      guarded(async (on) =>
        (await Promise.all(statements.map((each) => send(on, each)))).map((result) => result.rows),
      ),
    commit: (last) =>
      guarded(async (on) => {
        closed = true;
        const results = await Promise.allSettled([...last.map((each) => send(on, each)), on.query("commit")]);
        const failed = results.find((result) => result.status === "rejected");
        // A transaction that had failed answers COMMIT with ROLLBACK.
        const committed =
          !failed &&
          (results.at(-1) as PromiseFulfilledResult<{ command: string }>).value.command === "COMMIT";
        release(!committed);
        if (failed) throw failed.reason;
        if (!committed) throw new Error("the transaction had failed before its commit");
      }),
    async rollback() {
      if (closed || !opening) return;
      closed = true;
      const on = await opening.catch(() => undefined);
      // A statement may still be running (the handler ran out of time in it): then the connection is dropped, not awaited.
      const ended = await Promise.race([
        on?.query("rollback").then(
          () => true,
          () => false,
        ) ?? true,
        new Promise<false>((resolve) => setTimeout(resolve, giveUpMs, false).unref()),
      ]);
      release(!ended);
    },
  };
}
