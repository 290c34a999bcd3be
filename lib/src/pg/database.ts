// The pools. Statements are written with the schema name `tuntas.`; a database that lives in another schema (a test's)
// gets them with that name put in. Behind a transaction pooler prepared statements and session settings are off,
// because the next transaction may run on another server session.
import { createHash } from "node:crypto";
import pg from "pg";
import { askRows, type BurstStatement } from "./burst.ts";
import type { Queryable, Row, Sql, Statement, Tx } from "./contract.ts";
import { pgErrors } from "./contract.ts";
import { isConnectionLost, isPoolBusy, toCoded } from "./faults.ts";
import { makeLender, type Lender } from "./lease.ts";
import { makeNames, type Names } from "./names.ts";

export interface DatabaseOptions {
  readonly url: string;
  readonly schema?: string;
  /** The most connections for Tuntas's own statements. */
  readonly connectionsMax?: number;
  /** The most connections for transactions that belong to handlers. */
  readonly handlerConnectionsMax?: number;
  readonly applicationName?: string;
}

export interface Database extends Sql {
  readonly url: string;
  readonly schema: string;
  /** True behind a transaction pooler, where sessions are not ours: no LISTEN, no session lock, no prepared statements. */
  readonly pooled: boolean;
  readonly serverVersion: number;
  /** Calls the handler whenever a connection of the pools is lost: what was on its way may or may not have happened. */
  onConnectionLost(handler: () => void): void;
  /** The most connections of both pools together. */
  readonly connectionsMax: number;
  /**
   * A connection for a handler's own transaction; waits so long until one of the pool is free, half a minute by default: all may be
   * held by those who wait for one more each. Errors: TUNTAS_CONNECTIONS_OUT.
   */
  handlerClient(waitMs?: number): Promise<pg.PoolClient>;
  /** Such connections for transactions that follow one another closely. */
  readonly lender: Lender;
  /** A connection of its own, outside the pools (LISTEN, heartbeat). */
  dedicatedClient(): Promise<pg.Client>;
  /** The statement as this database runs it: in its schema, prepared unless a pooler stands between. */
  prepare(statement: Statement): { name?: string; text: string };
  /** The same with its values, as it goes into a burst. */
  bind(statement: Statement, values?: readonly unknown[]): BurstStatement;
  /** Names for statements of others; nothing has one where a pooler stands between. */
  readonly names: Names;
  close(): Promise<void>;
}

/** Names a statement by its text, so that a changed text is never run under an old plan. */
export function statement(text: string): Statement {
  return { text, name: `tuntas_${createHash("sha1").update(text).digest("hex").slice(0, 16)}` };
}

// The planner has no statistics on tables that fill and empty all day; a hash or merge join over a whole queue table is
// then 10 times slower than the index look-ups that every statement here is written for (measured: 5,400 claims/s
// with the planner left alone, 26,000 with joins pinned). client_connection_check_interval ends a statement whose
// process has died; without it a dead process can hold its locks until the statement ends.
const planner: Record<string, string> = {
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  enable_seqscan: "off",
  jit: "off",
  plan_cache_mode: "force_generic_plan",
};
const engineSettings = `${Object.entries(planner)
  .map(([name, value]) => `-c ${name}=${value}`)
  .join(" ")} -c lock_timeout=5000`;

/** Has the rest of a transaction on a handler's connection planned as our own sessions plan. */
export const pinPlanner = statement(
  `select ${Object.entries(planner)
    .map(([name, value]) => `set_config('${name}', '${value}', true)`)
    .join(", ")}`,
);

const sessionSettings =
  "-c client_connection_check_interval=1000 -c idle_in_transaction_session_timeout=60000";

function clientConfig(options: DatabaseOptions, settings: string): pg.ClientConfig & { pipeline: boolean } {
  return {
    connectionString: options.url,
    application_name: options.applicationName ?? "tuntas",
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: 10_000,
    // Statements that are not awaited one by one go out together: a transaction's begin with its first statement, its
    // last one with the commit.
    pipeline: true,
    ...(settings && { options: settings }),
  };
}

async function inspect(options: DatabaseOptions): Promise<{ pooled: boolean; version: number }> {
  const client = new pg.Client(clientConfig(options, ""));
  client.on("error", () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query(
      "select pg_backend_pid() as pid, current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding",
    );
    const { pid, version, encoding } = rows[0] as { pid: number; version: number; encoding: string };
    if (version < 150_000)
      throw pgErrors.error("TUNTAS_DATABASE_TOO_OLD", `expected PostgreSQL 15 or later, got ${version}`);
    if (encoding !== "UTF8")
      throw pgErrors.error("TUNTAS_DATABASE_ENCODING", `expected encoding UTF8, got ${encoding}`);
    // A pooler answers the start-up with a process id of its own making.
    return { pooled: (client as unknown as { processID: number }).processID !== pid, version };
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Says which database it was, so that a wrong address shows; the password stays out of it. */
function unreachable(url: string, cause: unknown): unknown {
  if (!isConnectionLost(cause)) return toCoded(cause);
  const { host, port, database, user } = new pg.Client({ connectionString: url });
  const where = host.startsWith("/") ? `${host} (a socket)` : `${host}:${port}`;
  return pgErrors.error(
    "TUNTAS_DATABASE_UNREACHABLE",
    `no PostgreSQL answers at ${where} (database ${database}, user ${user}): ${(cause as Error).message}`,
    { cause },
  );
}

const patienceMs = { starting: 10_000, refused: 2500 };

/** A server that is just starting, or restarting after a crash, is waited for; a wrong address is not. */
async function inspectPatiently(options: DatabaseOptions): ReturnType<typeof inspect> {
  const begun = performance.now();
  for (;;) {
    try {
      return await inspect(options);
    } catch (cause) {
      const { code } = cause as { code?: unknown };
      // Nobody listens: a wrong address, or a server between its death and its next start.
      const limitMs = code === "ECONNREFUSED" ? patienceMs.refused : patienceMs.starting;
      const mayStart = isConnectionLost(cause) && code !== "ENOTFOUND";
      if (!mayStart || performance.now() - begun > limitMs) throw unreachable(options.url, cause);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

const timerMaxMs = 2 ** 31 - 1;
const nameless: Names = { of: () => undefined, renew: () => undefined };

async function inTransaction<T>(client: pg.PoolClient, work: () => Promise<T>): Promise<T> {
  try {
    await client.query("begin");
    const result = await work();
    await client.query("commit");
    client.release();
    return result;
  } catch (cause) {
    const rolledBack = await client.query("rollback").then(
      () => true,
      () => false,
    );
    client.release(!rolledBack);
    throw toCoded(cause);
  }
}

const handlerWaitMs = 30_000;

/** Errors: TUNTAS_CONNECTIONS_OUT where none was free in all that time, and what the database says. */
async function connectWithin(pool: pg.Pool, waitMs: number): Promise<pg.PoolClient> {
  const begun = performance.now();
  for (;;) {
    const left = waitMs - (performance.now() - begun);
    const connecting = pool.connect();
    const won = await firstOf(connecting, left).catch((cause: unknown) => {
      // Handlers may hold all of them for as long as they may take, which is no failure of who waits.
      if (!isPoolBusy(cause)) throw toCoded(cause);
      return "busy" as const;
    });
    if (won === "busy") continue;
    if (won !== "late") return won;
    // Given up; what comes of it all the same is another's.
    connecting.then(
      (client) => client.release(),
      () => undefined,
    );
    throw allOut(pool, waitMs);
  }
}

async function firstOf<T>(work: Promise<T>, ms: number): Promise<T | "late"> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<"late">((resolve) => {
    if (ms < timerMaxMs) timer = setTimeout(resolve, Math.max(0, ms), "late");
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

const allOut = (pool: pg.Pool, waitMs: number) =>
  pgErrors.error(
    "TUNTAS_CONNECTIONS_OUT",
    `expected one of the ${pool.options.max} connections for handlers to be free within ${Math.round(waitMs)} ms, ${pool.totalCount} were out and ${pool.waitingCount} waited`,
  );

/** Says what is wrong with the address without repeating it, as it may hold a password. */
function checkAddress(url: string): void {
  if (/^(postgres(ql)?:\/\/|socket:|\/)/i.test(url)) return;
  const scheme = /^[a-z]+:/i.exec(url)?.[0];
  throw pgErrors.error(
    "TUNTAS_DATABASE_URL",
    `expected an address that begins with postgres://, got ${scheme === undefined ? "one without a scheme" : `one that begins with ${scheme}`}`,
  );
}

/** Opens the pools. Errors: TUNTAS_DATABASE_URL, TUNTAS_DATABASE_UNREACHABLE, TUNTAS_DATABASE_TOO_OLD, TUNTAS_DATABASE_ENCODING. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  checkAddress(options.url);
  const { pooled, version } = await inspectPatiently(options);
  const schema = options.schema ?? "tuntas";
  const lostHandlers: (() => void)[] = [];
  const pool = (max: number, settings: string) => {
    const made = new pg.Pool({
      ...clientConfig(options, pooled ? "" : settings),
      max,
      idleTimeoutMillis: 30_000,
    });
    made.on("error", () => undefined); // an idle connection that breaks is replaced at the next use
    // The pool listens to idle connections only: one that is cut while it is out would end the process.
    made.on("connect", (client) => client.on("error", () => lostHandlers.forEach((tell) => tell())));
    return made;
  };
  const connectionsMax = {
    engine: options.connectionsMax ?? 6,
    handlers: options.handlerConnectionsMax ?? 16,
  };
  const engine = pool(connectionsMax.engine, `${engineSettings} ${sessionSettings}`);
  const handlers = pool(connectionsMax.handlers, sessionSettings);
  const texts = new Map<string, { name?: string; text: string }>();

  function prepare(wanted: Statement): { name?: string; text: string } {
    let known = texts.get(wanted.name);
    if (!known) {
      const text = schema === "tuntas" ? wanted.text : wanted.text.replaceAll(/\btuntas\./g, `${schema}.`);
      known = pooled ? { text } : { name: wanted.name, text };
      texts.set(wanted.name, known);
    }
    return known;
  }

  function bind(wanted: Statement, values?: readonly unknown[]): BurstStatement {
    const { name, text } = prepare(wanted);
    return { name, text, values, rows: undefined };
  }

  const runOn = async <R extends Row>(client: pg.PoolClient, wanted: Statement, values: readonly unknown[]) =>
    (await askRows(client, bind(wanted, values))) as R[];

  return {
    url: options.url,
    schema,
    pooled,
    serverVersion: version,
    connectionsMax: connectionsMax.engine + connectionsMax.handlers,
    onConnectionLost: (handler) => void lostHandlers.push(handler),
    prepare,
    bind,
    names: pooled ? nameless : makeNames(),
    run<R extends Row>(wanted: Statement, values: readonly unknown[] = []) {
      const asked = bind(wanted, values);
      return new Promise<R[]>((resolve, reject) =>
        engine.connect((refused, client) => {
          if (!client) return reject(toCoded(refused));
          askRows(client, asked).then(
            (rows) => {
              client.release();
              resolve(rows as R[]);
            },
            (cause: unknown) => {
              client.release(true);
              reject(toCoded(cause));
            },
          );
        }),
      );
    },
    // By the handlers' pool, whose sessions plan as any other: an application's tables are not ours.
    query: (text, values = []) =>
      handlers.query(text, values).catch((cause: unknown) => {
        throw toCoded(cause);
      }),
    async transaction<T>(work: (tx: Tx) => Promise<T>) {
      const client = await engine.connect().catch((cause) => {
        throw toCoded(cause);
      });
      const tx: Tx = {
        client: client as unknown as Queryable,
        run: <R extends Row>(wanted: Statement, values: readonly unknown[] = []) =>
          runOn<R>(client, wanted, values),
      };
      return inTransaction(client, () => work(tx));
    },
    handlerClient: (waitMs = handlerWaitMs) => connectWithin(handlers, waitMs),
    lender: makeLender(handlers, !pooled),
    async dedicatedClient() {
      const client = new pg.Client(clientConfig(options, pooled ? "" : sessionSettings));
      client.on("error", () => undefined); // whoever uses it is told by its statement's failure, or by "end"
      await client.connect().catch((cause) => {
        throw toCoded(cause);
      });
      return client;
    },
    async close() {
      await Promise.all([engine.end(), handlers.end()]);
    },
  };
}
