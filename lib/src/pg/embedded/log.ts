// The log files in the data directory stay small: what exceeds the bound moves to one older file and begins anew.
// It is copied and cut, not renamed, because PostgreSQL keeps the file open (in append mode).
import { copyFileSync, openSync, statSync, truncateSync } from "node:fs";
import { dirname } from "node:path";
import { giveToOwner } from "./record.ts";

const sizeMaxBytes = 8 * 1024 * 1024;

export function boundLog(path: string): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size <= sizeMaxBytes) return;
  copyFileSync(path, `${path}.1`);
  truncateSync(path, 0);
}

/** Opens it for appending; the caller closes it. */
export function openLog(path: string): number {
  const file = openSync(path, "a", 0o600);
  giveToOwner(path, dirname(path));
  return file;
}
