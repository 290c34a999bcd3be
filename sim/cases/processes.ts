// The processes of case activation, each killed with SIGKILL and started again as an orchestrator would, and the
// database under them.
import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { attachEmbedded } from "../../lib/src/pg/embedded/index.ts";
import { readRecord } from "../../lib/src/pg/embedded/record.ts";
import { startPostgres15 } from "../../lib/src/testing/debian.fixture.ts";

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

export interface Server extends AsyncDisposable {
  readonly url: string;
  /** Ends it as a crash does; it comes back. */
  kill(): Promise<void>;
  /** Kills whoever would bring it back, and puts another one in his place; undefined where there is none. */
  killSupervisor?(): Promise<void>;
}

/** The postmaster's process id, by way of the parent of one of its children. */
async function findPostmaster(client: pg.Client): Promise<number> {
  const { rows } = await client.query("select pid from pg_stat_activity where backend_type = 'checkpointer'");
  const status = readFileSync(`/proc/${rows[0].pid}/status`, "utf8");
  return Number(/^PPid:\s+(\d+)/m.exec(status)![1]);
}

/** The embedded PostgreSQL 18, whose supervisor brings it back. */
export async function embedded(): Promise<Server> {
  const dataDir = mkdtempSync(join("/var/tmp", "tuntas-crash-"));
  chmodSync(dataDir, 0o755);
  let server = await attachEmbedded({ dataDir });
  return {
    url: server.url,
    kill: () =>
      onDatabase(server.url, async (client) => void process.kill(await findPostmaster(client), "SIGKILL")),
    async killSupervisor() {
      process.kill(readRecord(dataDir).live!.supervisorPid, "SIGKILL");
      // As any process that starts next would.
      server = await attachEmbedded({ dataDir });
    },
    async [Symbol.asyncDispose]() {
      await server.detach();
      rmSync(dataDir, { recursive: true, force: true, maxRetries: 20 });
    },
  };
}

/** Debian's PostgreSQL 15, ended as by a crash and started again. */
export async function postgres15(): Promise<Server> {
  const server = await startPostgres15({ fsync: "on" });
  return {
    url: server.url,
    kill: () => server.restart(200),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** Runs `work` on a fresh connection, again while the server is down. */
export async function onDatabase<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000 });
    client.on("error", () => undefined);
    try {
      await client.connect();
      return await work(client);
    } catch (cause) {
      if (attempt > 150) throw cause;
      await pause(100);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}

const command = fileURLToPath(new URL("../../lib/bin/tuntas.mjs", import.meta.url));

/** Puts the dead letters back to work by the command that an operator has; how many there were. */
export async function replayDead(client: pg.Client, url: string): Promise<number> {
  const { rows } = await client.query(
    "select count(*)::int as n from tuntas.ready where source_queue_id is not null",
  );
  if (rows[0].n === 0) return 0;
  const env = { ...process.env, DATABASE_URL: url };
  const args = [command, "queue", "redrive", "duplicate-checks-dlq"];
  const [status] = await once(spawn(process.execPath, args, { env, stdio: "ignore" }), "exit");
  return status === 0 ? rows[0].n : 0;
}

const folder = fileURLToPath(new URL("../../examples/case-activation/dist/", import.meta.url));

export interface Running {
  /** The process as it is now; another one after each end. */
  readonly pid: number;
  kill(): void;
  /** Stops it with SIGSTOP for so long, unless it ends meanwhile. */
  freeze(ms: number): Promise<void>;
  stop(): void;
}

export interface Program {
  readonly file: string;
  readonly env: NodeJS.ProcessEnv;
  /** Hears what the process sends, with the process that it is of. */
  readonly onMessage?: (message: unknown, pid: number) => void;
}

/** Runs a program, and again whenever it ends, as an orchestrator would. */
export function keepRunning({ file, env, onMessage }: Program): Running {
  let child: ChildProcess;
  let over = false;
  function begin(): void {
    const own = fork(file, { env, stdio: ["ignore", "ignore", "ignore", "ipc"], execArgv: [] });
    child = own;
    own.on("message", (message) => onMessage?.(message, own.pid!));
    own.once("exit", () => {
      if (!over) setTimeout(begin, 100);
    });
  }
  begin();
  return {
    get pid() {
      return child.pid!;
    },
    kill: () => void child.kill("SIGKILL"),
    async freeze(ms) {
      const frozen = child;
      frozen.kill("SIGSTOP");
      await pause(ms);
      frozen.kill("SIGCONT");
    },
    stop() {
      over = true;
      child.kill("SIGKILL");
    },
  };
}

/** A program of the example. */
export const example = (program: string): string => join(folder, program);
