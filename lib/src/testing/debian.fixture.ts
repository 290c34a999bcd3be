// Servers of the system's own for tests: PostgreSQL 15 and pgbouncer as Debian packages them, in a temporary folder, on
// free ports, as an account without rights where we are root.
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";

const run = promisify(execFile);

const binaries = "/usr/lib/postgresql/15/bin";
const pgbouncer = "/usr/sbin/pgbouncer";

export interface Tools {
  readonly postgres: boolean;
  readonly pgbouncer: boolean;
}

/** Which of the tools are installed here. */
export const installed = (): Tools => ({
  postgres: existsSync(join(binaries, "postgres")),
  pgbouncer: existsSync(pgbouncer),
});

/** The account to run as; PostgreSQL refuses to be root. */
async function account(): Promise<{ uid?: number; gid?: number }> {
  if (process.getuid?.() !== 0) return {};
  const [uid, gid] = await Promise.all(
    ["-u", "-g"].map(async (flag) => Number((await run("id", [flag, "postgres"])).stdout)),
  );
  return { uid: uid!, gid: gid! };
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export interface SystemServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** Stops it as a crash does, keeps it away for a while, and starts it again; answers once it takes connections. */
  restart(awayMs?: number): Promise<void>;
}

/** Starts Debian's PostgreSQL 15; everything of it is gone afterwards. */
export async function startPostgres15(
  settings: Readonly<Record<string, string>> = {},
): Promise<SystemServer> {
  const as = await account();
  const folder = mkdtempSync(join(tmpdir(), "tuntas-pg15-"));
  if (as.uid !== undefined) chownSync(folder, as.uid, as.gid!);
  const data = join(folder, "data");
  const port = await freePort();
  const pgCommand = (name: string, ...args: string[]) => run(join(binaries, name), args, { ...as, cwd: "/" });
  await pgCommand(
    "initdb",
    "-D",
    data,
    "-U",
    "postgres",
    "--auth=trust",
    "--encoding=UTF8",
    "--locale=C",
    "--no-sync",
  );
  const options = {
    port: String(port),
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    fsync: "off",
    ...settings,
  };
  const flags = Object.entries(options)
    .map(([name, value]) => `-c ${name}='${value}'`)
    .join(" ");
  const control = (...args: string[]) =>
    pgCommand("pg_ctl", "-D", data, "-w", "-l", join(folder, "log"), "-o", flags, ...args);
  await control("start");
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    port,
    async restart(awayMs = 0) {
      await control("stop", "-m", "immediate");
      await new Promise((resolve) => setTimeout(resolve, awayMs));
      await control("start");
    },
    async [Symbol.asyncDispose]() {
      await control("stop", "-m", "immediate").catch(() => undefined);
      rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
    },
  };
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined);
  try {
    await client.connect();
    await client.query("select 1");
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Starts pgbouncer in transaction mode before the server. */
export async function startPgbouncer(
  server: SystemServer,
): Promise<{ readonly url: string } & AsyncDisposable> {
  const as = await account();
  const folder = mkdtempSync(join(tmpdir(), "tuntas-bouncer-"));
  if (as.uid !== undefined) chownSync(folder, as.uid, as.gid!);
  const port = await freePort();
  const config = join(folder, "pgbouncer.ini");
  writeFileSync(
    config,
    `[databases]
postgres = host=127.0.0.1 port=${server.port} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
auth_type = any
pool_mode = transaction
default_pool_size = 10
max_client_conn = 200
unix_socket_dir =
`,
  );
  const child: ChildProcess = spawn(pgbouncer, ["-q", config], { ...as, cwd: "/", stdio: "ignore" });
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  while (child.exitCode === null && !(await answers(url)))
    await new Promise((resolve) => setTimeout(resolve, 50));
  return {
    url,
    async [Symbol.asyncDispose]() {
      const exited = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGINT");
      if (child.exitCode === null) await exited;
      rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
    },
  };
}
