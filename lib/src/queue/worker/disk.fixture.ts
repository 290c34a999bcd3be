// A file system so small that a test can fill it: a tmpfs of its own where the system lets us mount one, else one that is
// there already, as containers have at /dev.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const mebibyte = 1024 * 1024;
const sizeMiB = 64;
const smallMax = 128 * mebibyte;

export interface SmallDisk extends Disposable {
  /** Open to everybody, and empty. */
  readonly folder: string;
  /** Leaves no byte. */
  fill(): void;
  /** Makes room again. */
  clear(): void;
}

function mounted(): string | undefined {
  const path = mkdtempSync("/tmp/tuntas-disk-");
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${sizeMiB}m`, "tmpfs", path], { stdio: "ignore" });
    return path;
  } catch {
    rmSync(path, { recursive: true });
    return undefined;
  }
}

function isUsable(path: string): boolean {
  try {
    const { blocks, bfree, bsize } = statfsSync(path);
    if (blocks * bsize > smallMax || bfree * bsize < 40 * mebibyte) return false;
    rmSync(mkdtempSync(join(path, "tuntas-try-")), { recursive: true });
    return true;
  } catch {
    return false;
  }
}

/** PostgreSQL's own shared memory lives in /dev/shm, so that comes last. */
function found(): string | undefined {
  const mounts = readFileSync("/proc/mounts", "utf8").split("\n");
  const small = mounts
    .map((line) => line.split(" "))
    .filter(([, path, type]) => type === "tmpfs" && isUsable(path!));
  return small
    .map(([, path]) => path!)
    .toSorted((a, b) => Number(a === "/dev/shm") - Number(b === "/dev/shm"))[0];
}

/** Undefined where there is none: not Linux, or neither mounting nor writing is allowed. */
export function smallDisk(): SmallDisk | undefined {
  if (process.platform !== "linux") return undefined;
  const own = mounted();
  const root = own ?? found();
  if (root === undefined) return undefined;
  const folder = mkdtempSync(join(root, "tuntas-"));
  if (own !== undefined) chmodSync(root, 0o755);
  chmodSync(folder, 0o777);
  const ballast = join(root, `tuntas-ballast-${process.pid}`);
  const clear = () => rmSync(ballast, { force: true });
  return {
    folder,
    clear,
    fill() {
      const piece = Buffer.alloc(4096);
      try {
        for (;;) writeFileSync(ballast, piece, { flag: "a" });
      } catch (cause) {
        if ((cause as NodeJS.ErrnoException).code !== "ENOSPC") throw cause;
      }
    },
    [Symbol.dispose]() {
      clear();
      rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
      if (own === undefined) return;
      execFileSync("umount", ["-l", own]);
      rmSync(own, { recursive: true });
    },
  };
}

/** A folder that belongs to whoever PostgreSQL runs as. */
export function folderFor(owner: { readonly uid: number; readonly gid: number }, path: string): string {
  mkdirSync(path, { mode: 0o700 });
  execFileSync("chown", [`${owner.uid}:${owner.gid}`, path]);
  return path;
}
