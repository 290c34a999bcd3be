// Many statements in one round trip: one Sync for all, so that the server answers once and skips whatever stands behind
// the first failure. The driver's own pipeline has a Sync, a promise and a row description for each statement, which
// costs both sides more than a short statement itself.
import { createRequire } from "node:module";
import pg from "pg";

export interface BurstStatement {
  /** Prepared under this name, once a connection; without one it is parsed, unless the one before has the same text. */
  readonly name?: string | undefined;
  readonly text: string;
  readonly values?: readonly unknown[] | undefined;
  /** Set where its rows are wanted, and how the driver is to make them. */
  readonly rows?: RowShape | undefined;
}

export interface RowShape {
  readonly rowMode?: "array" | undefined;
  readonly types?: pg.CustomTypesConfig | undefined;
}

export interface BurstAnswer {
  /** The tag of the last statement that was done. */
  readonly command: string;
  /** Of the statements whose rows were wanted, in their order. */
  readonly results: readonly pg.QueryResult[];
  /** The first failure, and the place of its statement; what stands behind it was not run. */
  readonly failure?: { readonly at: number; readonly cause: unknown };
}

/** What of the driver's connection its own queries use. */
interface Connection {
  readonly stream: { cork(): void; uncork(): void };
  readonly parsedStatements: Record<string, string | undefined>;
  parse(message: { name: string; text: string }): void;
  bind(message: { statement: string; values: unknown[]; valueMapper: (value: unknown) => unknown }): void;
  describe(message: { type: "P"; name: string }): void;
  execute(message: object): void;
  close(message: { type: "S"; name: string }): void;
  sync(): void;
}

/** How the driver gathers rows. */
interface Gathered extends pg.QueryResult {
  addFields(fields: unknown[]): void;
  parseRow(fields: unknown[]): object;
  addRow(row: object): void;
  addCommandComplete(message: { text: string }): void;
}

const { prepareValue } = createRequire(import.meta.url)("pg/lib/utils") as {
  prepareValue: (value: unknown) => unknown;
};
const Result = pg.Result as unknown as new (rowMode?: string, types?: unknown) => Gathered;

const nothing: unknown[] = [];
const portal = { type: "P", name: "" } as const;

// The driver takes only its own kind of query on a connection with a pipeline, and tells it the connection's types.
const DriverQuery = pg.Query as unknown as new (text: string) => { readonly _result: { _types: unknown } };

class Burst extends DriverQuery implements SentBurst {
  readonly answered: Promise<BurstAnswer>;
  private readonly statements: readonly BurstStatement[];
  private readonly results: Gathered[] = [];
  private resolve!: (answer: BurstAnswer) => void;
  /** How many statements are done. */
  private at = 0;
  private command = "";
  private gathered: Gathered | undefined;
  private failure: BurstAnswer["failure"];

  constructor(statements: readonly BurstStatement[]) {
    super("");
    this.statements = statements;
    this.answered = new Promise((resolve) => (this.resolve = resolve));
  }

  get isWhole(): boolean {
    return this.failure === undefined;
  }

  submit(connection: Connection): null {
    connection.stream.cork();
    let at = 0;
    try {
      for (; at < this.statements.length; at++) this.write(connection, at);
    } catch (cause) {
      this.failure = { at, cause }; // a value that cannot be sent; what stands before it runs
    } finally {
      connection.sync();
      connection.stream.uncork();
    }
    return null;
  }

  private write(connection: Connection, at: number): void {
    const { name = "", text, values, rows } = this.statements[at]!;
    if (!this.isParsed(connection, at)) {
      // An earlier burst may have left the name behind; to close what does not exist is no error.
      if (name !== "") connection.close({ type: "S", name });
      connection.parse({ name, text });
    }
    connection.bind({
      statement: name,
      values: (values ?? nothing) as unknown[],
      valueMapper: prepareValue,
    });
    if (rows) connection.describe(portal);
    connection.execute(nothing);
  }

  private isParsed({ parsedStatements }: Connection, at: number): boolean {
    const { name, text } = this.statements[at]!;
    if (name !== undefined && parsedStatements[name] === text) return true;
    const before = this.statements[at - 1];
    return before !== undefined && before.text === text && before.name === name;
  }

  handleRowDescription({ fields }: { fields: unknown[] }): void {
    this.gather().addFields(fields);
  }

  private gather(): Gathered {
    const { rowMode, types } = this.statements[this.at]?.rows ?? {};
    return (this.gathered ??= new Result(rowMode, types ?? this._result._types));
  }

  handleDataRow({ fields }: { fields: unknown[] }): void {
    if (!this.gathered || this.failure) return;
    try {
      this.gathered.addRow(this.gathered.parseRow(fields));
    } catch (cause) {
      this.failure = { at: this.at, cause }; // a type's own parser threw
    }
  }

  handleCommandComplete(message: { text: string }): void {
    this.command = message.text;
    if (this.statements[this.at]?.rows) this.gather().addCommandComplete(message);
    this.next();
  }

  handleEmptyQuery(): void {
    if (this.statements[this.at]?.rows) this.gather();
    this.next();
  }

  private next(): void {
    if (this.gathered) this.results.push(this.gathered);
    this.gathered = undefined;
    this.at++;
  }

  handleReadyForQuery(connection: Connection): void {
    this.answer(connection);
  }

  handleError(cause: unknown, connection: Connection): void {
    this.failure = { at: this.at, cause };
    // Whether it came to be parsed, and whether it could be used again, is not known.
    const name = this.statements[this.at]?.name;
    if (name !== undefined) delete connection.parsedStatements[name];
    this.answer(connection);
  }

  private answer({ parsedStatements }: Connection): void {
    for (const { name, text } of this.statements.slice(0, this.at))
      if (name !== undefined) parsedStatements[name] = text;
    const { command, results, failure } = this;
    this.resolve({ command, results, ...(failure && { failure }) });
  }
}

export interface SentBurst {
  /** Never rejects. */
  readonly answered: Promise<BurstAnswer>;
  /** False where a value could not be sent, so that its statement and those behind it are not on their way. */
  readonly isWhole: boolean;
}

/** Sends the statements, one behind another. Their names stay on the session, so behind a pooler give none. */
export function sendBurst(client: pg.ClientBase, statements: readonly BurstStatement[]): SentBurst {
  const sent = new Burst(statements);
  client.query(sent as never);
  return sent;
}

/** The same; resolves once they are answered. */
export const burst = (client: pg.ClientBase, statements: readonly BurstStatement[]): Promise<BurstAnswer> =>
  sendBurst(client, statements).answered;

/** The same; answers the last one's command tag, or rejects with the first failure. */
export async function runBurst(
  client: pg.ClientBase,
  statements: readonly BurstStatement[],
): Promise<string> {
  const { command, failure } = await burst(client, statements);
  if (failure) throw failure.cause;
  return command;
}
