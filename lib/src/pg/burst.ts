// Many statements in one round trip, when nobody needs their rows: one Sync for all, so that the server answers once and
// skips whatever stands behind the first failure. The driver's own pipeline has a Sync, a promise and a row description
// for each statement, which costs both sides more than a short statement itself.
import { createRequire } from "node:module";
import pg from "pg";

export interface BurstStatement {
  /** Prepared under this name, once a connection; without one it is parsed once a burst. */
  readonly name?: string | undefined;
  readonly text: string;
  readonly values?: readonly unknown[];
}

/** What of the driver's connection its own queries use. */
interface Connection {
  readonly stream: { cork(): void; uncork(): void };
  readonly parsedStatements: Record<string, string | undefined>;
  parse(message: { name: string; text: string }): void;
  bind(message: { statement: string; values: unknown[]; valueMapper: (value: unknown) => unknown }): void;
  execute(message: object): void;
  close(message: { type: "S"; name: string }): void;
  sync(): void;
}

/** How the driver turns values into parameters. */
const { prepareValue } = createRequire(import.meta.url)("pg/lib/utils") as {
  prepareValue: (value: unknown) => unknown;
};

const nothing: unknown[] = [];

// The driver takes only its own kind of query on a connection with a pipeline.
const DriverQuery = pg.Query as unknown as new (text: string) => object;

class Burst extends DriverQuery {
  readonly done: Promise<string>;
  private readonly statements: readonly BurstStatement[];
  /** Statements of this burst by their text, with the names under which they were parsed. */
  private readonly parsed = new Map<string, string>();
  private resolve!: (command: string) => void;
  private reject!: (cause: unknown) => void;
  private command = "";
  private failure: { readonly cause: unknown } | undefined;

  constructor(statements: readonly BurstStatement[]) {
    super("");
    this.statements = statements;
    this.done = new Promise((resolve, reject) => Object.assign(this, { resolve, reject }));
  }

  submit(connection: Connection): null {
    connection.stream.cork();
    try {
      for (const statement of this.statements) this.write(connection, statement);
    } catch (cause) {
      this.failure = { cause }; // a value that cannot be sent; what stands before it runs
    } finally {
      connection.sync();
      connection.stream.uncork();
    }
    return null;
  }

  private write(connection: Connection, statement: BurstStatement): void {
    connection.bind({
      statement: this.parse(connection, statement),
      values: (statement.values ?? nothing) as unknown[],
      valueMapper: prepareValue,
    });
    connection.execute(nothing);
  }

  /** The name under which the server knows the statement by now. */
  private parse(connection: Connection, { name, text }: BurstStatement): string {
    if (name !== undefined && connection.parsedStatements[name] === text) return name;
    const known = this.parsed.get(text);
    if (known !== undefined) return known;
    const made = name ?? `burst_${this.parsed.size}`;
    // An earlier burst may have left the name behind; to close what does not exist is no error.
    connection.close({ type: "S", name: made });
    connection.parse({ name: made, text });
    this.parsed.set(text, made);
    return made;
  }

  handleCommandComplete({ text }: { text: string }): void {
    this.command = text;
  }

  handleReadyForQuery({ parsedStatements }: Connection): void {
    if (this.failure) return this.reject(this.failure.cause);
    // Only what was parsed under its own name: a text that came without one first was taken from there.
    for (const { name, text } of this.statements)
      if (name !== undefined && this.parsed.get(text) === name) parsedStatements[name] = text;
    this.resolve(this.command);
  }

  handleError(cause: unknown): void {
    this.reject(cause);
  }

  handleRowDescription(): void {}
  handleDataRow(): void {}
  handleEmptyQuery(): void {}
}

/**
 * Runs the statements one after another; answers the last one's command tag, or rejects with the first failure. Its
 * names stay on the server's session, so it is not for connections behind a transaction pooler.
 */
export function runBurst(client: pg.PoolClient, statements: readonly BurstStatement[]): Promise<string> {
  const burst = new Burst(statements);
  client.query(burst as never);
  return burst.done;
}
