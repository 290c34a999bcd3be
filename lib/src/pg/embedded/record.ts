// server.json in the data directory: how the others find the supervisor and the server. Only its owner may read it,
// since it holds the password and the token that the supervisor asks for. It is written whole or not at all.
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { randomBytes } from "node:crypto";

export interface ServerRecord {
  /** The machine (or container) that the supervisor runs on. */
  readonly host: string;
  readonly supervisorPid: number;
  readonly controlPort: number;
  readonly token: string;
  /** Where PostgreSQL listens; absent until it was ready for the first time. */
  readonly port?: number;
  readonly url?: string;
}

export const recordPath = (dataDir: string): string => join(dataDir, "server.json");
export const thisHost = (): string => hostname();
export const newSecret = (): string => randomBytes(24).toString("base64url");

/** The record, or undefined where none was written yet. What cannot be parsed counts as not written. */
export function readRecord(dataDir: string): ServerRecord | undefined {
  try {
    return JSON.parse(readFileSync(recordPath(dataDir), "utf8")) as ServerRecord;
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

export function writeRecord(dataDir: string, record: ServerRecord): void {
  writePrivately(recordPath(dataDir), JSON.stringify(record, null, 2) + "\n");
}

/** Replaces a file that only its owner may read; a reader sees the old text or the new one, never a part. */
export function writePrivately(path: string, text: string): void {
  const fresh = `${path}.${process.pid}.new`;
  rmSync(fresh, { force: true });
  writeFileSync(fresh, text, { mode: 0o600, flag: "wx" });
  renameSync(fresh, path);
}
