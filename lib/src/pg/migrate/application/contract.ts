// What an application says about its migrations, and what becomes of them.
import type { Duration } from "../../../core/duration.ts";

export interface Migrations {
  /** Where the files are: `0001-cases.sql` and so on, run in this order, each once and in a transaction of its own. */
  readonly folder: URL;
  /** The schema of the application's tables: made if it is not there, and the home of the list of what has run. */
  readonly schema: string;
  /**
   * `"start"`, the default: whichever process starts first runs what is missing. `"apart"`: `tuntas migration run` does, as a
   * step of the deployment, and a process that finds something missing does not start.
   */
  readonly run?: "start" | "apart";
  /** How long a statement may wait for a lock, with everybody who needs the table waiting behind it; 5s by default. */
  readonly lockTimeout?: Duration;
  /** How long one statement may take; 5m by default. What takes longer is a backfill. */
  readonly statementTimeout?: Duration;
}

/** A file as it is read. */
export interface File {
  readonly name: string;
  readonly text: string;
  readonly checksum: string;
  /** Its statements, without what is quoted in them. */
  readonly statements: readonly string[];
}

/** A file that has not run yet. */
export interface Pending {
  readonly name: string;
  readonly statements: readonly string[];
  /** Those that take away what code of the version before may use. */
  readonly destructive: readonly string[];
}

export interface Plan {
  readonly schema: string;
  readonly pending: readonly Pending[];
  /** Processes of this application that know none of the pending files. */
  readonly alive: readonly string[];
}

/** What a change that is under way says to a statement. */
export interface Verdict {
  /** Nobody needs what it takes away. Else it must not run, whoever is alive. */
  readonly free: boolean;
  readonly why: string;
}

export type Judge = (statement: string) => Verdict | undefined;

/** A file that has run. */
export interface Ran {
  readonly name: string;
  readonly ms: number;
}
