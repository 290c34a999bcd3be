// What the tests of the embedded server share: data directories, client processes that can be killed, and looks at
// what really runs. The clients run the built code, as in production.
import { spawn, type ChildProcess } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "pg";

const fixture = fileURLToPath(new URL("client.fixture.mjs", import.meta.url));
export const library = fileURLToPath(new URL("../../../", import.meta.url));
const builtDoor = (lib: string): string => join(lib, "dist/pg/embedded/index.js");

export interface Attached {
  readonly process: ChildProcess;
  readonly url: string;
  readonly version: string;
  readonly code?: string;
  readonly message?: string;
}

export interface ClientOptions {
  /** Another copy of the library's folder. */
  readonly lib?: string;
  readonly uid?: number;
  readonly gid?: number;
}

export class Household {
  readonly #folders: string[] = [];
  readonly #processes: ChildProcess[] = [];
  readonly #dataDirs: string[] = [];

  /** Whoever PostgreSQL runs as may enter it, unless another mode is given. */
  folder(mode = 0o755): string {
    const path = mkdtempSync("/tmp/tuntas-embedded-");
    chmodSync(path, mode);
    this.#folders.push(path);
    return path;
  }

  dataDir(folder = this.folder()): string {
    const path = join(folder, "data");
    this.#dataDirs.push(path);
    return path;
  }

  /** Starts a process that attaches, and waits for its one line. */
  async client(dataDir: string, options: ClientOptions = {}): Promise<Attached> {
    const { lib = library, ...account } = options;
    const args = [fixture, dataDir, builtDoor(lib)];
    const child = spawn(process.execPath, args, { ...account, cwd: "/", stdio: ["pipe", "pipe", "inherit"] });
    this.#processes.push(child);
    const line = await new Promise<string>((resolve, reject) => {
      createInterface(child.stdout).once("line", resolve);
      child.once("exit", (code, signal) => reject(new Error(`The client ended: ${code ?? signal}`)));
    });
    return { process: child, ...(JSON.parse(line) as Omit<Attached, "process">) };
  }

  /** Ends everything that a test started, whatever state it left it in. */
  async clear(): Promise<void> {
    for (const child of this.#processes.splice(0)) child.kill("SIGKILL");
    for (const dataDir of this.#dataDirs.splice(0)) await clearServer(dataDir);
    for (const folder of this.#folders.splice(0))
      rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
  }
}

async function clearServer(dataDir: string): Promise<void> {
  const place = placeOf(dataDir);
  for (const pid of supervisorsOf(dataDir)) process.kill(pid, "SIGTERM");
  await until(() => supervisorsOf(dataDir).length === 0);
  for (const pid of postmastersOf(dataDir)) process.kill(pid, "SIGQUIT");
  await until(() => postmastersOf(dataDir).length === 0);
  if (place !== dataDir) rmSync(place, { recursive: true, force: true, maxRetries: 20 });
}

export const supervisorsOf = (dataDir: string): number[] =>
  processes(
    (pid) =>
      commandLine(pid).some((word) => word.endsWith("supervisor.js")) && commandLine(pid).includes(dataDir),
  );

/** Processes called `postgres -D …`, zombies and sessions left out, whose cluster lives in the data directory. */
export const postmastersOf = (dataDir: string): number[] =>
  processes((pid) => {
    const words = commandLine(pid);
    return (
      words[0]?.endsWith("/postgres") === true &&
      words[1] === "-D" &&
      isBelow(readlinkSync(`/proc/${pid}/cwd`), dataDir)
    );
  });

const isBelow = (path: string, dataDir: string): boolean =>
  path.startsWith(dataDir) || path.startsWith(placeOf(dataDir));

/** Where the cluster lives. */
export function placeOf(dataDir: string): string {
  try {
    return readFileSync(join(dataDir, "moved-to"), "utf8").trim();
  } catch {
    return dataDir;
  }
}

const commandLine = (pid: number): string[] => readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");

function processes(matches: (pid: number) => boolean): number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => {
      try {
        return pid > 0 && matches(pid);
      } catch {
        return false;
      }
    });
}

/** Waits until the condition holds; the bound is generous, so that only a fault meets it. */
export async function until(condition: () => boolean | Promise<boolean>, boundMs = 30_000): Promise<void> {
  const giveUpAt = performance.now() + boundMs;
  while (!(await condition())) {
    if (performance.now() > giveUpAt) throw new Error(`Still not so after ${boundMs} ms: ${condition}`);
    await sleep(20);
  }
}

/** Runs one statement in a session of its own. */
export async function query<R = Record<string, unknown>>(url: string, text: string): Promise<R[]> {
  const client = new Client(url);
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query(text)).rows as R[];
  } finally {
    await client.end();
  }
}

export const answers = (url: string): Promise<boolean> =>
  query(url, "select 1").then(
    () => true,
    () => false,
  );
