// The built command on a database of its own in the test run's PostgreSQL. What reads and acts upon the database alone runs in one process
// for all, one command after another; everything else is a process of its own.
import { fork, spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import pg from "pg";

export const bin = fileURLToPath(new URL("../../../lib/bin/tuntas.mjs", import.meta.url));

export interface Ended {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Household extends AsyncDisposable {
  readonly url: string;
  /** Runs one command to its end. */
  run(args: readonly string[], input?: string): Promise<Ended>;
  /** The same with --json, its document parsed. */
  json(args: readonly string[]): Promise<{ status: number; document: any }>;
  /** Begins a command that goes on. */
  begin(
    args: readonly string[],
    environment?: Record<string, string>,
  ): ChildProcess & { readonly output: () => string };
}

const runner = fileURLToPath(new URL("runner.fixture.mjs", import.meta.url));

/** Nouns whose commands know nothing but the database; with an application they load code, which is loaded once a process. */
const resident = new Set(
  ["alarm", "approval", "dlq", "effect", "key", "lease", "message", "operation", "outbox", "queue"].concat([
    "compensation",
    "reservation",
    "schedule",
    "stream",
    "tenant",
    "user",
    "workflow",
  ]),
);
const isResident = (args: readonly string[]): boolean =>
  resident.has(args[0] ?? "") && !args.includes("--app");

async function onServer(text: string): Promise<void> {
  const client = new pg.Client({ connectionString: process.env.DATABASE_URL });
  await client.connect();
  await client.query(text);
  await client.end();
}

export async function household(): Promise<Household> {
  const name = `cli_${randomBytes(6).toString("hex")}`;
  await onServer(`create database ${name} template template0 encoding 'UTF8'`);
  const address = new URL(process.env.DATABASE_URL!);
  address.pathname = `/${name}`;
  const url = address.href;
  const children: ChildProcess[] = [];
  const { npm_command: _, npm_lifecycle_event: __, ...inherited } = process.env;
  const own = { ...inherited, DATABASE_URL: url, TUNTAS_PORT: "0" };

  function begin(args: readonly string[], environment: Record<string, string> = {}) {
    const env = { ...own, ...environment };
    const child = spawn(process.execPath, [bin, ...args], { env, stdio: ["pipe", "pipe", "pipe"] });
    let text = "";
    child.stdout.on("data", (chunk) => (text += String(chunk)));
    children.push(child);
    return Object.assign(child, { output: () => text });
  }

  let runs: ChildProcess | undefined;
  let last: Promise<unknown> = Promise.resolve();

  async function ask(args: readonly string[], input: string): Promise<Ended> {
    if (!runs) children.push((runs = fork(runner, { env: own })));
    runs.send({ args, input });
    const [ended] = (await once(runs, "message")) as [Ended];
    return ended;
  }

  function run(args: readonly string[], input = ""): Promise<Ended> {
    if (!isResident(args)) return runAlone(args, input);
    const ended = last.then(() => ask(args, input));
    last = ended;
    return ended;
  }

  async function runAlone(args: readonly string[], input: string): Promise<Ended> {
    const child = begin(args);
    let stderr = "";
    child.stderr!.on("data", (chunk) => (stderr += String(chunk)));
    child.stdin!.end(input);
    const [status] = (await once(child, "close")) as [number];
    return { status, stdout: child.output(), stderr };
  }

  return {
    url,
    run,
    begin,
    async json(args) {
      const { status, stdout } = await run([...args, "--json"]);
      return { status, document: JSON.parse(stdout) };
    },
    async [Symbol.asyncDispose]() {
      for (const child of children) child.kill("SIGKILL");
      await onServer(`drop database ${name} with (force)`);
    },
  };
}

/** Resolves with what the child has printed once that contains `wanted`; rejects if it ends first. */
export function printed(child: ReturnType<Household["begin"]>, wanted: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    const look = () => wanted.test(child.output()) && resolve(child.output());
    child.stdout!.on("data", look);
    child.once("close", (status) =>
      reject(new Error(`ended with ${status} before it printed ${wanted}: ${child.output()}`)),
    );
    look();
  });
}
