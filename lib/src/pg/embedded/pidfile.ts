// postmaster.pid, PostgreSQL's own lock file, and whether what it says is true: the process that it names may be
// gone, a zombie that nobody reaps, or a stranger that was given the same number.
import { existsSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "./command.ts";

export interface PidFile {
  readonly pid: number;
  readonly port: number;
  /** PostgreSQL accepts connections. */
  readonly ready: boolean;
}

const pathIn = (cluster: string): string => join(cluster, "postmaster.pid");

/** What the file says, or undefined where there is none (or only its beginning yet). */
export function readPidFile(cluster: string): PidFile | undefined {
  try {
    const lines = readFileSync(pathIn(cluster), "utf8").split("\n");
    const [pid, port] = [Number(lines[0]), Number(lines[3])];
    return Number.isInteger(pid) && pid > 0 ? { pid, port, ready: lines[7]?.trim() === "ready" } : undefined;
  } catch {
    return undefined;
  }
}

/** The pid of the live postmaster of this cluster, if there is one. */
export async function findPostmaster(cluster: string): Promise<number | undefined> {
  const pid = readPidFile(cluster)?.pid;
  return pid !== undefined && (await isPostmasterOf(pid, cluster)) ? pid : undefined;
}

export async function isPostmasterOf(pid: number, cluster: string): Promise<boolean> {
  if (!exists(pid)) return false;
  if (process.platform === "linux") return isPostmasterOnLinux(pid, cluster);
  if (process.platform === "win32") return isPostmasterOnWindows(pid);
  const { ok, output } = await runCommand("ps", ["-o", "stat=,command=", "-p", String(pid)]);
  return ok && !output.startsWith("Z") && output.includes("postgres") && output.includes(cluster);
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/**
 * A postmaster works in its cluster's directory, also after that was deleted; a zombie has no working directory any
 * more. The cluster's path is a real one, without symlinks.
 */
function isPostmasterOnLinux(pid: number, cluster: string): boolean {
  try {
    const isPostgres = readFileSync(`/proc/${pid}/comm`, "utf8").startsWith("postgres");
    return isPostgres && [cluster, `${cluster} (deleted)`].includes(readlinkSync(`/proc/${pid}/cwd`));
  } catch {
    return false;
  }
}

async function isPostmasterOnWindows(pid: number): Promise<boolean> {
  const { output } = await runCommand("tasklist", ["/FI", `PID eq ${pid}`, "/FO", "CSV", "/NH"]);
  return output.toLowerCase().includes("postgres.exe");
}

/**
 * Makes a lock file that names a zombie or a stranger harmless. PostgreSQL would refuse to start as long as that
 * process is there, but takes a file that names its own parent (us) for a stale one. The file must not be deleted:
 * PostgreSQL finds in it the shared memory that orphaned sessions may still be using. On Windows PostgreSQL is not
 * deceived by strangers.
 */
export function disarmPidFile(cluster: string): void {
  const path = pathIn(cluster);
  if (process.platform === "win32" || !existsSync(path)) return;
  writeFileSync(path, readFileSync(path, "utf8").replace(/^\d+/, String(process.pid)));
}
