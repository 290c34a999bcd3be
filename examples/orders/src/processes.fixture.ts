// Real processes for the tests: the API and the worker as they are run in production, each on a database of its own,
// with their log lines as things to wait for.
import { spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import pg from "pg";

export interface LogLine {
  readonly event?: string;
  readonly [field: string]: unknown;
}

export interface RunningProcess {
  readonly child: ChildProcess;
  readonly lines: LogLine[];
  /** The first line, now or later, that fits. Rejects where the process ends without one. */
  line(fits: (line: LogLine) => boolean): Promise<LogLine>;
  readonly ended: Promise<{ readonly status: number | null; readonly signal: NodeJS.Signals | null }>;
  readonly errors: () => string;
}

export const isEvent =
  (event: string) =>
  (line: LogLine): boolean =>
    line.event === event;

const built = (path: string): string => fileURLToPath(new URL(`../dist/${path}`, import.meta.url));

const parse = (text: string): LogLine => {
  try {
    return JSON.parse(text) as LogLine;
  } catch {
    return { text };
  }
};

/** Watches a process that logs JSON lines. */
export function watch(child: ChildProcess): RunningProcess {
  const lines: LogLine[] = [];
  const waiting = new Set<(line: LogLine) => void>();
  let errors = "";
  child.stderr!.on("data", (chunk: Buffer) => (errors += chunk.toString()));
  createInterface(child.stdout!).on("line", (text) => {
    const line = parse(text);
    lines.push(line);
    for (const look of waiting) look(line);
  });
  const ended: RunningProcess["ended"] = new Promise((resolve) =>
    child.once("close", (status, signal) => resolve({ status, signal })),
  );

  function line(fits: (line: LogLine) => boolean): Promise<LogLine> {
    const known = lines.find(fits);
    if (known) return Promise.resolve(known);
    return new Promise((resolve, reject) => {
      const look = (next: LogLine) => {
        if (!fits(next)) return;
        waiting.delete(look);
        resolve(next);
      };
      waiting.add(look);
      void ended.then(() => reject(new Error(`the process ended: ${errors}`)));
    });
  }
  return { child, lines, line, ended, errors: () => errors };
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** A database of its own on the test server, and the processes that use it; all gone when it is disposed of. */
export class OrdersHouse implements AsyncDisposable {
  readonly #children: ChildProcess[] = [];
  readonly #admin: pg.Client;
  readonly #name: string;
  readonly databaseUrl: string;

  private constructor(admin: pg.Client, name: string, databaseUrl: string) {
    this.#admin = admin;
    this.#name = name;
    this.databaseUrl = databaseUrl;
  }

  static async open(): Promise<OrdersHouse> {
    const admin = new pg.Client({ connectionString: process.env.DATABASE_URL });
    await admin.connect();
    const name = `orders_${randomBytes(5).toString("hex")}`;
    await admin.query(`create database ${name}`);
    const url = new URL(process.env.DATABASE_URL!);
    url.pathname = `/${name}`;
    return new OrdersHouse(admin, name, url.href);
  }

  run(path: string, env: Environment = {}): RunningProcess {
    const { npm_command: _, npm_lifecycle_event: __, ...own } = process.env;
    const all = { ...own, DATABASE_URL: this.databaseUrl, TUNTAS_LOG_LEVEL: "info", PORT: "0", ...env };
    const child = spawn(process.execPath, [built(path)], { env: all, stdio: ["ignore", "pipe", "pipe"] });
    this.#children.push(child);
    return watch(child);
  }

  /** A running API, and its address. */
  async api(env: Environment = {}): Promise<RunningProcess & { readonly url: string }> {
    const running = this.run("api.js", env);
    const { port } = await running.line(isEvent("service.ready"));
    return { ...running, url: `http://127.0.0.1:${port as number}` };
  }

  async worker(env: Environment = {}): Promise<RunningProcess> {
    const running = this.run("worker.js", env);
    await running.line(isEvent("service.ready"));
    return running;
  }

  async client(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.databaseUrl });
    client.on("error", () => undefined);
    await client.connect();
    return client;
  }

  async query(text: string, values: unknown[] = []): Promise<any[]> {
    const client = await this.client();
    try {
      return (await client.query(text, values)).rows;
    } finally {
      await client.end();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#children) child.kill("SIGKILL");
    await this.#admin.query(`drop database if exists ${this.#name} with (force)`);
    await this.#admin.end();
  }
}

export interface Accepted {
  readonly orderId: string;
  readonly status: string;
}

export const post = (url: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${url}/orders`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });

export const place = async (url: string, customerId = "cust_1"): Promise<Accepted> =>
  (await (await post(url, { customerId })).json()) as Accepted;

export const statusOf = async (url: string, orderId: string): Promise<string> =>
  ((await (await fetch(`${url}/orders/${orderId}`)).json()) as Accepted).status;

/** Looks until it is so; for what only the database can tell. */
export async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(20);
}

export interface FreezableDatabase {
  readonly url: string;
  /** From now on nothing passes: connections stay open and say nothing. */
  freeze(): void;
  thaw(): void;
  close(): void;
}

/** A database as it looks when its machine hangs. */
export async function freezable(databaseUrl: string): Promise<FreezableDatabase> {
  const target = new URL(databaseUrl);
  const { port, hostname } = target;
  const pairs = new Set<readonly [Socket, Socket]>();
  let frozen = false;
  const hold = ([here, there]: readonly [Socket, Socket]) =>
    [here, there].forEach((socket) => (frozen ? socket.pause() : socket.resume()));
  const server = createServer((here) => {
    const there = connect(Number(port), hostname);
    const pair = [here, there] as const;
    pairs.add(pair);
    for (const [from, to] of [
      [here, there],
      [there, here],
    ] as const) {
      from.on("data", (chunk) => to.write(chunk));
      from.on("error", () => to.destroy());
      from.on("close", () => to.destroy());
    }
    hold(pair);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  target.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const set = (value: boolean) => {
    frozen = value;
    pairs.forEach(hold);
  };
  return {
    url: target.href,
    freeze: () => set(true),
    thaw: () => set(false),
    close() {
      server.close();
      for (const pair of pairs) pair.forEach((socket) => socket.destroy());
    },
  };
}
