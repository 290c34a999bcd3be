// Real processes for tests: a database of its own on the test server, the application's files run on it as in production, and
// their log lines as things to wait for. So a test can kill one at the worst place, and see what the next one makes of it.
import { spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { attachEmbedded } from "../pg/embedded/index.ts";

export interface LogLine {
  readonly event?: string;
  readonly [field: string]: unknown;
}

export interface TestProcess {
  readonly child: ChildProcess;
  /** What it has logged so far. */
  readonly lines: readonly LogLine[];
  /** The first line, now or later, of this event or that fits. Rejects where the process ends without one. */
  line(of: string | ((line: LogLine) => boolean)): Promise<LogLine>;
  /** kill -9; resolves once it is gone. */
  kill(): Promise<void>;
  readonly ended: Promise<{ readonly status: number | null; readonly signal: NodeJS.Signals | null }>;
  /** What it has written to standard error. */
  errors(): string;
}

export interface TestDatabase extends AsyncDisposable {
  readonly url: string;
  /** A connection of its own, for locks that a test holds. */
  connect(): Promise<pg.Client>;
  /** The rows of one statement. */
  query(text: string, values?: readonly unknown[]): Promise<any[]>;
  /** Runs a file by Node on this database; PORT is 0 unless `env` says something else. */
  run(file: URL | string, env?: Readonly<Record<string, string | undefined>>): TestProcess;
}

const parse = (text: string): LogLine => {
  try {
    return JSON.parse(text) as LogLine;
  } catch {
    return { text };
  }
};

/** Watches a process that logs JSON lines to its standard output. */
export function watchProcess(child: ChildProcess): TestProcess {
  const lines: LogLine[] = [];
  const waiting = new Set<(line: LogLine) => void>();
  let errors = "";
  child.stderr?.on("data", (chunk: Buffer) => (errors += chunk.toString()));
  createInterface(child.stdout!).on("line", (text) => {
    const line = parse(text);
    lines.push(line);
    for (const look of waiting) look(line);
  });
  const ended: TestProcess["ended"] = new Promise((resolve) =>
    child.once("close", (status, signal) => resolve({ status, signal })),
  );

  function line(of: string | ((line: LogLine) => boolean)): Promise<LogLine> {
    const fits = typeof of === "string" ? ({ event }: LogLine) => event === of : of;
    const known = lines.find(fits);
    if (known) return Promise.resolve(known);
    return new Promise((resolve, reject) => {
      const look = (next: LogLine) => {
        if (!fits(next)) return;
        waiting.delete(look);
        resolve(next);
      };
      waiting.add(look);
      void ended.then(() => reject(new Error(`the process ended without the line: ${errors}`)));
    });
  }
  return {
    child,
    lines,
    line,
    ended,
    errors: () => errors,
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

async function connectTo(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  // The database is dropped under it at the end.
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

/** Makes a database on the server of DATABASE_URL, else on an embedded one in .tuntas. Disposed of, it is gone with its processes. */
export async function testDatabase(): Promise<TestDatabase> {
  const given = process.env.DATABASE_URL;
  const embedded = given === undefined ? await attachEmbedded({ dataDir: ".tuntas" }) : undefined;
  const admin = await connectTo(given ?? embedded!.url);
  const name = `test_${randomBytes(6).toString("hex")}`;
  await admin.query(`create database ${name}`);
  const own = new URL(given ?? embedded!.url);
  own.pathname = `/${name}`;
  const url = own.href;
  const processes: TestProcess[] = [];
  let asking: Promise<pg.Client> | undefined;

  return {
    url,
    connect: () => connectTo(url),
    async query(text, values = []) {
      asking ??= connectTo(url);
      return (await (await asking).query(text, [...values])).rows;
    },
    run(file, env = {}) {
      // Under npm a process ends with its parent, which is what the test's own process is.
      const { npm_command: _, npm_lifecycle_event: __, ...inherited } = process.env;
      const all = { ...inherited, DATABASE_URL: url, TUNTAS_LOG_LEVEL: "info", PORT: "0", ...env };
      const path = file instanceof URL ? fileURLToPath(file) : file;
      const child = spawn(process.execPath, [path], { env: all, stdio: ["ignore", "pipe", "pipe"] });
      const running = watchProcess(child);
      processes.push(running);
      return running;
    },
    async [Symbol.asyncDispose]() {
      for (const running of processes) await running.kill();
      await (await asking)?.end();
      await admin.query(`drop database if exists ${name} with (force)`);
      await admin.end();
      await embedded?.detach();
    },
  };
}
