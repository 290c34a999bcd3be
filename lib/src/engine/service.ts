// How a process ends. A signal asks it to: it stops, in order, and exits 0 well before whoever asked loses patience. A
// second signal means now. npm and npx pass no signal on; what they started sees that they are gone, and ends by itself.
import { refuseUnknown, type NamesOf } from "../core/options.ts";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { isTuntasError } from "../core/error.ts";
import type { Log } from "./log.ts";

export interface ServiceOptions {
  readonly log: Log;
  /** Ends the process with status 1 if stopping takes longer: 29s by default, under the usual kill after 30s. */
  readonly deadlineMs?: number;
}

const optionNames: NamesOf<ServiceOptions> = { log: true, deadlineMs: true };

const signalNumbers = { SIGINT: 2, SIGTERM: 15 } as const;
type EndSignal = keyof typeof signalNumbers;

const lookMs = 250;
const flushMs = 200;
const sameSignalMs = 200;
/** An orphan is to be gone 2 s after its parent: what takes longer than this is hurried, then dropped. */
const orphanHurryMs = 900;
const orphanEndMs = 1400;

/** The parent of another process, or undefined where the system does not tell. */
async function parentOf(pid: number): Promise<number | undefined> {
  try {
    if (process.platform === "linux") {
      const stat = await readFile(`/proc/${pid}/stat`, "utf8");
      // The name, in parentheses, may hold spaces and parentheses itself.
      return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
    }
    if (process.platform === "win32") return undefined;
    const { stdout } = await promisify(execFile)("ps", ["-o", "ppid=", "-p", String(pid)]);
    return Number(stdout.trim());
  } catch {
    return undefined;
  }
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === "EPERM";
  }
};

/** npm runs a shell which runs this process: either may die first, and only the shell's parent tells of npm's death. */
interface Family {
  readonly parent: number;
  readonly grandparent: Promise<number | undefined>;
}

const startedByNpm = process.env.npm_command !== undefined || process.env.npm_lifecycle_event !== undefined;

// Looked at when the process begins: later the parent may be gone already, and who took its place would look like it.
const family: Family | undefined = startedByNpm
  ? { parent: process.ppid, grandparent: parentOf(process.ppid) }
  : undefined;

async function isOrphan({ parent, grandparent }: Family): Promise<boolean> {
  if (process.ppid !== parent || !isAlive(parent)) return true;
  const before = await grandparent;
  return before !== undefined && (await parentOf(parent)) !== before;
}

async function watchParents(of: Family, onOrphaned: () => void): Promise<void> {
  if (await isOrphan(of)) return onOrphaned();
  setTimeout(() => void watchParents(of, onOrphaned), lookMs).unref();
}

/**
 * Calls `stop` at the first SIGTERM or SIGINT, or when the npm or npx that started this process is gone, and exits when
 * it has resolved. `stop` may be called again, which means: hurry.
 */
export function runUntilSignal(stop: () => Promise<void>, options: ServiceOptions): void {
  refuseUnknown("runUntilSignal", options, optionNames);
  const { log, deadlineMs = 29_000 } = options;
  let ending = false;
  let signalledAt = -Infinity;

  function exit(status: number): void {
    log.info({ event: "service.exit", status }, "the process ends");
    log.flush(() => process.exit(status));
    setTimeout(() => process.exit(status), flushMs); // where nobody reads the log any more
  }

  function exitAfter(ms: number): void {
    setTimeout(() => {
      log.error(
        { event: "service.deadline", ms },
        "could not stop in time; what was not finished is taken over by others",
      );
      exit(1);
    }, ms).unref();
  }

  async function end(reason: string): Promise<void> {
    ending = true;
    log.info({ event: "service.stopping", reason }, "stopping");
    const failed = (cause: unknown) => {
      log.error({ event: "service.stop_failed", cause }, "could not stop in order");
      return true;
    };
    exit((await stop().catch(failed)) === true ? 1 : 0);
  }

  function onSignal(signal: EndSignal): void {
    // One Ctrl-C may come twice: from the terminal, and from an npm that passes it on where its shell has made way.
    if (startedByNpm && performance.now() - signalledAt < sameSignalMs) return;
    if (ending) process.exit(128 + signalNumbers[signal]);
    signalledAt = performance.now();
    exitAfter(deadlineMs);
    void end(signal);
  }

  function onOrphaned(): void {
    if (ending) return;
    exitAfter(orphanEndMs);
    setTimeout(() => void stop().catch(() => undefined), orphanHurryMs).unref();
    void end("the parent is gone");
  }

  for (const signal of Object.keys(signalNumbers) as EndSignal[]) process.on(signal, onSignal);
  if (family) void watchParents(family, onOrphaned);
}

/** Runs what a process begins with; where that fails, says why in words for a person and exits 1. */
export function runMain(begin: () => Promise<void>): void {
  begin().catch((cause: unknown) => {
    const text = isTuntasError(cause)
      ? `${cause.code}: ${cause.message}\n${cause.remedy}`
      : String((cause as Error)?.stack ?? cause);
    process.stderr.write(`${text}\n`, () => process.exit(1));
  });
}
