// Whose a data directory is. PostgreSQL takes one of its own user's alone, and a copy often has another owner: `cp` by root, an
// archive, a volume of another container.
import { chmodSync, readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { embeddedErrors } from "./contract.ts";

/** `ana (uid 1000)`; the number alone where nobody has it. */
function nameOf(uid: number): string {
  const name = accountName(uid);
  return name === undefined ? `uid ${uid}` : `${name} (uid ${uid})`;
}

function accountName(uid: number): string | undefined {
  try {
    const lines = readFileSync("/etc/passwd", "utf8").split("\n");
    return lines.map((line) => line.split(":")).find(([, , id]) => id === String(uid))?.[0];
  } catch {
    return undefined; // a system without the file
  }
}

const quoted = (path: string): string =>
  /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;

/** The owner of the path, or of the nearest folder above it that can be seen. */
function ownerOf(path: string): { readonly path: string; readonly uid: number } | undefined {
  try {
    return { path, uid: statSync(path).uid };
  } catch {
    return path === dirname(path) ? undefined : ownerOf(dirname(path));
  }
}

/**
 * What is wrong with the owner of a path for a process of that user, and the command that mends it for all of `whole`; undefined where
 * he owns it, and where a system has no such owners.
 */
export function wrongOwner(path: string, whole: string, uid = process.getuid?.()): string | undefined {
  const owner = ownerOf(path);
  if (uid === undefined || owner === undefined || owner.uid === uid) return undefined;
  const command = `sudo chown -R ${accountName(uid) ?? uid} ${quoted(whole)}`;
  return `${owner.path} belongs to ${nameOf(owner.uid)}, and ${nameOf(uid)} is to use it. While nothing runs on it: ${command}`;
}

/** PostgreSQL's own directory must be its user's. Errors: TUNTAS_EMBEDDED_DATA_DIR_DENIED. */
export function checkOwner(cluster: string, uid: number | undefined): void {
  const wrong = wrongOwner(cluster, cluster, uid);
  if (wrong !== undefined) throw embeddedErrors.error("TUNTAS_EMBEDDED_DATA_DIR_DENIED", wrong);
}

/** PostgreSQL refuses a directory that others may read, which a copy is where only the umask was asked: it is its user's alone again. */
export function closeToOthers(cluster: string): void {
  if (process.platform !== "win32" && (statSync(cluster).mode & 0o027) !== 0) chmodSync(cluster, 0o700);
}
