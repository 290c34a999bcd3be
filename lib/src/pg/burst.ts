// Many statements in one round trip: one Sync for all, so that the server answers once and skips whatever stands behind
// the first failure. The driver's own pipeline has a Sync, a promise and a row description for each statement, which
// costs both sides more than a short statement itself.
import { createRequire } from "node:module";
import pg from "pg";
import { makeMessages, type Parameter } from "./messages.ts";

/** Where they are made, all fields are there, in this order: what runs through every burst would else know eight shapes. */
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
  readonly stream: { readonly writable: boolean; write(bytes: Buffer): void };
  readonly parsedStatements: Record<string, string | undefined>;
}

/** How the driver gathers rows. */
interface Gathered extends pg.QueryResult {
  addFields(fields: Fields): void;
  parseRow(fields: unknown[]): object;
  addRow(row: object): void;
  addCommandComplete(message: { text: string }): void;
}

const { prepareValue } = createRequire(import.meta.url)("pg/lib/utils") as {
  prepareValue: (value: unknown) => Parameter;
};
const Result = pg.Result as unknown as new (rowMode?: string, types?: unknown) => Gathered;

const messages = makeMessages();
const asObjects: RowShape = {};

type Fields = unknown[];

// The columns of what a session keeps prepared, by its name. They cannot change (the server refuses to run it then), so
// they are asked for once: to describe eighteen columns costs both sides more than to send a row of them.
const columnsOf = new WeakMap<Connection, Map<string, Fields>>();

function columnsOn(connection: Connection): Map<string, Fields> {
  const known = columnsOf.get(connection) ?? new Map<string, Fields>();
  columnsOf.set(connection, known);
  return known;
}

class Burst implements SentBurst {
  static {
    // The driver takes only its own kind of query on a connection with a pipeline. Nothing else of it is used, and to make
    // one costs as much as to send a short statement.
    Object.setPrototypeOf(Burst.prototype, pg.Query.prototype as object);
  }

  /** The driver puts the connection's types here. */
  readonly _result: { readonly _types?: unknown } = {};
  readonly answered: Promise<BurstAnswer>;
  private readonly statements: readonly BurstStatement[];
  private readonly results: Gathered[] = [];
  private resolve!: (answer: BurstAnswer) => void;
  /** Of those whose columns were known when they were sent. */
  private readonly known: (Fields | undefined)[] = [];
  private columns!: Map<string, Fields>;
  /** How many statements are done. */
  private at = 0;
  private command = "";
  private gathered: Gathered | undefined;
  private failure: BurstAnswer["failure"];

  constructor(statements: readonly BurstStatement[]) {
    this.statements = statements;
    this.answered = new Promise((resolve) => (this.resolve = resolve));
  }

  get isWhole(): boolean {
    return this.failure === undefined;
  }

  submit(connection: Connection): null {
    this.columns = columnsOn(connection);
    let at = 0;
    let begun = 0;
    try {
      for (; at < this.statements.length; at++) {
        begun = messages.length;
        this.say(connection, at);
      }
    } catch (cause) {
      messages.cut(begun);
      this.failure = { at, cause }; // a value that cannot be sent; what stands before it runs
    }
    messages.sync();
    const bytes = messages.take();
    if (connection.stream.writable) connection.stream.write(bytes);
    return null;
  }

  private say(connection: Connection, at: number): void {
    const { name = "", text, values, rows } = this.statements[at]!;
    const parameters = values ? values.map(prepareValue) : [];
    if (!this.isParsed(connection, at)) {
      // An earlier burst may have left the name behind; to close what does not exist is no error.
      if (name !== "") messages.close(name);
      this.columns.delete(name);
      messages.parse(name, text);
    }
    messages.bind(name, parameters);
    const known = rows && this.columns.get(name);
    if (known) this.known[at] = known;
    else if (rows) messages.describe();
    messages.execute();
  }

  private isParsed({ parsedStatements }: Connection, at: number): boolean {
    const { name, text } = this.statements[at]!;
    if (name !== undefined && parsedStatements[name] === text) return true;
    const before = this.statements[at - 1];
    return before !== undefined && before.text === text && before.name === name;
  }

  handleRowDescription({ fields }: { fields: Fields }): void {
    this.gather(fields);
  }

  /** What the rows of the statement go into. Its columns have just come, or were known, or there are none. */
  private gather(described?: Fields): Gathered {
    if (this.gathered) return this.gathered;
    const { name, rows } = this.statements[this.at]!;
    const known = this.known[this.at];
    const fields = known ?? described ?? [];
    if (!known && name !== undefined) this.columns.set(name, fields);
    this.gathered = new Result(rows?.rowMode, rows?.types ?? this._result._types);
    this.gathered.addFields(fields);
    return this.gathered;
  }

  handleDataRow({ fields }: { fields: unknown[] }): void {
    if (this.failure || !this.statements[this.at]?.rows) return;
    try {
      const gathered = this.gather();
      gathered.addRow(gathered.parseRow(fields));
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

/** One statement; answers its rows. */
export async function askRows(
  client: pg.ClientBase,
  { name, text, values }: Omit<BurstStatement, "rows">,
): Promise<unknown[]> {
  const { results, failure } = await burst(client, [{ name, text, values, rows: asObjects }]);
  if (failure) throw failure.cause;
  return results[0]!.rows;
}
