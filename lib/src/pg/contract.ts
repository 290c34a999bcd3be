// What the rooms see of the database: statements, transactions, and the errors of both.
import { catalogue } from "../core/error.ts";

/** Anything with pg's `query`: a pg Client, a pool client, Drizzle's or Knex's underlying connection. */
export interface Queryable {
  query(text: string, values?: unknown[]): Promise<{ rows: any[]; rowCount?: number | null }>;
}

/** One SQL statement, written with the schema name `tuntas.`; `name` makes it a prepared statement. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

export type Row = Record<string, any>;

/** An open transaction of Tuntas itself: statements run in it until the function that got it ends. */
export interface Tx {
  run<R extends Row = Row>(statement: Statement, values?: readonly unknown[]): Promise<R[]>;
  /** The connection, for what is not a Tuntas statement. */
  readonly client: Queryable;
}

export interface Sql {
  /** Runs the statement in a transaction of its own. */
  run<R extends Row = Row>(statement: Statement, values?: readonly unknown[]): Promise<R[]>;
  /** Runs one statement of an application's own, as it is written: for a read that needs no transaction. */
  query(text: string, values?: unknown[]): Promise<{ rows: any[]; rowCount?: number | null }>;
  /** Runs `work` in one transaction: commits when it resolves, rolls back when it rejects. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
}

export const pgErrors = catalogue({
  TUNTAS_DATABASE_UNREACHABLE: {
    meaning: "The database cannot be reached or went away.",
    remedy:
      "A process that starts: nothing was begun; start PostgreSQL or correct DATABASE_URL, or leave it out for the embedded server. One that runs: nothing was lost, the work is tried again once the database is back.",
    retryable: true,
  },
  TUNTAS_DATABASE_URL: {
    meaning: "The address of the database is not one of PostgreSQL.",
    remedy:
      "Write DATABASE_URL as postgres://USER:PASSWORD@HOST:5432/NAME, or unset it for the embedded server.",
  },
  TUNTAS_DATABASE_BUSY: {
    meaning:
      "The database gave up on a statement: a lock was not free in time, or two transactions collided.",
    remedy: "Try again; if it repeats, `tuntas doctor` names the session that holds the lock.",
    retryable: true,
  },
  TUNTAS_DATABASE_FULL: {
    meaning: "The database has no room left (disk, memory or connections).",
    remedy: "Free disk space or raise max_connections; nothing was written.",
    retryable: true,
  },
  TUNTAS_CONNECTIONS_EXCEEDED: {
    meaning: "The pools of one process are larger than all that the server has for us.",
    remedy: "Lower handlerConnectionsMax, raise max_connections, or put a pooler between.",
  },
  TUNTAS_CONNECTIONS_OUT: {
    meaning:
      "None of the connections of this process was free in time: all are held, or new ones are not answered by the server.",
    remedy:
      "Whoever holds a transaction and asks for one more connection may wait for himself: ask by that transaction (ctx.tx, request.tx), or before it begins. Else raise handlerConnectionsMax; `tuntas doctor` names what holds the database.",
    retryable: true,
  },
  TUNTAS_DATABASE_TOO_OLD: {
    meaning: "The PostgreSQL server is older than 15.",
    remedy: "Use PostgreSQL 15 to 18, or leave DATABASE_URL unset to use the embedded server.",
  },
  TUNTAS_DATABASE_ENCODING: {
    meaning: "The database does not store UTF-8, so bodies would not come back byte for byte.",
    remedy: "Create the database with ENCODING 'UTF8'.",
  },
  TUNTAS_MIGRATION_CHANGED: {
    meaning: "A migration that this database has already run differs from the file.",
    remedy:
      "Of Tuntas: install the version that this database was made with, or a later one. Of an application: put the file back as it was and write a further one.",
  },
  TUNTAS_MIGRATION_FOLDER: {
    meaning: "The folder of an application's migrations is not there, or cannot be read.",
    remedy:
      'Write it as `new URL("../migrations/", import.meta.url)`, seen from the file that runs (dist, not src), and bring the folder along in what you deploy.',
  },
  TUNTAS_MIGRATION_SCHEMA: {
    meaning: "The schema that an application names for its tables is no plain name.",
    remedy: "Name it in lower case, with letters, digits and _.",
  },
  TUNTAS_MIGRATION_CONTROL: {
    meaning: "A migration of an application begins or ends a transaction itself.",
    remedy:
      "Leave begin, commit and rollback out: each file runs in one transaction, and one that fails leaves nothing behind.",
  },
  TUNTAS_MIGRATION_PENDING: {
    meaning: "An application whose migrations run apart was started on tables that lack some of them.",
    remedy:
      "Run `tuntas migration run FILE` as a step of the deployment, before processes of the new version start.",
  },
  TUNTAS_MIGRATION_DESTRUCTIVE: {
    meaning:
      "A migration drops or renames what processes of the version before, which are alive, may still use, or what a change that is under way still needs.",
    remedy:
      "Where the message names a change: bring that on first (`tuntas change show NAME`). Else first deploy a version that does not use it, and stop the processes before it. Where those do not use it either: `tuntas migration run FILE --while-running`.",
  },
  TUNTAS_MIGRATION_FAILED: {
    meaning: "A statement of a migration failed. Nothing of its file was kept; the files before it stay.",
    remedy: "Correct the file, or the data that it met, and run it again.",
  },
  TUNTAS_MIGRATION_LIMIT: {
    meaning:
      "A statement of a migration waited longer for a lock, or took longer, than the application allows. Nothing of its file was kept.",
    remedy:
      "Run it again at a quieter time, see with `tuntas doctor` who holds the lock, make of a long rewrite a backfill, or raise `lockTimeout` or `statementTimeout` of the migrations.",
    retryable: true,
  },
  TUNTAS_SCHEMA_NEWER: {
    meaning: "The database has migrations that this version of Tuntas does not know.",
    remedy: "Install the newer Tuntas; an older one must not work on this schema.",
  },
});
