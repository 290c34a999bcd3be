// A program of a released revision, as a process of its own. It dies with whoever runs it: beside it, in its process group, a
// guard reads a pipe that nobody writes to, whose end comes when this process ends, and then kills the group.
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exitCodeOf } from "../../core/job-result.ts";
import type { Revision } from "../../service/contract.ts";

export interface Launch {
  readonly revision: Pick<Revision, "directory" | "environment">;
  /** With its arguments. */
  readonly words: readonly string[];
  /** Names of variables of this process. */
  readonly inherited: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface Exit {
  readonly exitCode: number;
  /** What it wrote to the file for its result; undefined where that is no JSON. */
  readonly account: unknown;
  /** The last that it printed. */
  readonly printed: string;
}

const guard = '(trap "" TERM; read -r never <&3; kill -KILL 0) >/dev/null 2>&1 & exec 3<&-; exec "$@"';
const printedMax = 64 << 10;
const graceMs = 10_000;
const timedOut = 124;

function environmentOf({ revision, inherited, environment }: Launch, result: string) {
  const names = ["PATH", "HOME", ...inherited];
  const own = names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]));
  return { ...Object.fromEntries(own), ...revision.environment, ...environment, TUNTAS_RESULT: result };
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // Nothing of it is left.
  }
}

/** SIGTERM at the signal, SIGKILL ten seconds later. */
function stopAt(child: ChildProcess, signal: AbortSignal): () => void {
  let timer: NodeJS.Timeout | undefined;
  const stop = () => {
    signalGroup(child, "SIGTERM");
    timer = setTimeout(signalGroup, graceMs, child, "SIGKILL");
  };
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  return () => {
    signal.removeEventListener("abort", stop);
    clearTimeout(timer);
  };
}

/** Resolves at its exit; what it started beside itself is killed then. */
async function ended(child: ChildProcess, signal: AbortSignal): Promise<Pick<Exit, "exitCode" | "printed">> {
  let printed = "";
  const keep = (chunk: string) => void (printed = (printed + chunk).slice(-printedMax));
  for (const stream of [child.stdout!, child.stderr!]) stream.setEncoding("utf8").on("data", keep);
  const unwatch = stopAt(child, signal);
  const exited = new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, by) => resolve(exitCodeOf(code, by)));
  });
  const closed = new Promise((resolve) => child.once("close", resolve));
  try {
    const exitCode = await exited;
    signalGroup(child, "SIGKILL");
    await closed;
    return { exitCode, printed };
  } finally {
    unwatch();
  }
}

async function accountOf(path: string): Promise<unknown> {
  const text = await readFile(path, "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Runs it to its end, its timeout, or the abort of the signal. */
export async function runProgram(launch: Launch): Promise<Exit> {
  const folder = await mkdtemp(join(tmpdir(), "tuntas-command-"));
  const result = join(folder, "result.json");
  const timeout = AbortSignal.timeout(launch.timeoutMs);
  try {
    const child = spawn("/bin/sh", ["-c", guard, "tuntas-command", ...launch.words], {
      cwd: launch.revision.directory,
      env: environmentOf(launch, result),
      detached: true,
      stdio: ["ignore", "pipe", "pipe", "pipe"],
    });
    child.stdio[3]!.on("error", () => undefined);
    const { exitCode, printed } = await ended(child, AbortSignal.any([launch.signal, timeout]));
    const inTime = !timeout.aborted;
    return { exitCode: inTime ? exitCode : timedOut, printed, account: await accountOf(result) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
