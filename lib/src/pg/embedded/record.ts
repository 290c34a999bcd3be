// server.json in the data directory: how the others find the supervisor and the server. Only its owner may read it,
// since it holds the password and the token that the supervisor asks for. It is written whole or not at all, and
// touched every few seconds, which tells another machine that shares the directory that somebody is alive.
import { chownSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { dirname, join } from "node:path";

export interface ServerRecord {
  /** Where PostgreSQL listens, or did last: it is asked for again, so that URLs stay good over a restart. */
  readonly port?: number;
  /** Absent after a clean stop. */
  readonly live?: LiveServer;
}

export interface LiveServer {
  /** The machine (or container) that the supervisor runs on. */
  readonly host: string;
  readonly supervisorPid: number;
  readonly controlPort: number;
  readonly token: string;
  /** Absent until PostgreSQL was ready for the first time. */
  readonly url?: string;
}

export const recordPath = (dataDir: string): string => join(dataDir, "server.json");
export const newSecret = (): string => randomBytes(24).toString("base64url");

/** The record; an empty one where none was written yet. */
export function readRecord(dataDir: string): ServerRecord {
  try {
    return JSON.parse(readFileSync(recordPath(dataDir), "utf8")) as ServerRecord;
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw error;
  }
}

export function writeRecord(dataDir: string, record: ServerRecord): void {
  writePrivately(recordPath(dataDir), JSON.stringify(record, null, 2) + "\n");
}

/** Touches the record if it is still the one with this token; false if it was deleted, and perhaps made anew. */
export function touchRecord(dataDir: string, token: string): boolean {
  if (readRecord(dataDir).live?.token !== token) return false;
  const now = new Date();
  utimesSync(recordPath(dataDir), now, now);
  return true;
}

export const recordTouchedAtMs = (dataDir: string): number =>
  statSync(recordPath(dataDir), { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** Replaces a file that only its owner may read; a reader sees the old text or the new one, never a part. */
export function writePrivately(path: string, text: string): void {
  const fresh = `${path}.${process.pid}.new`;
  rmSync(fresh, { force: true });
  writeFileSync(fresh, text, { mode: 0o600, flag: "wx" });
  giveToOwner(fresh, dirname(path));
  renameSync(fresh, path);
}

/** What root makes in another's directory is the other's, who could not go on without root otherwise. */
export function giveToOwner(path: string, directory: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(directory);
  chownSync(path, uid, gid);
}
