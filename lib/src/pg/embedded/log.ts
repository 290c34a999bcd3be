// The log files in the data directory stay small: what exceeds the bound moves to one older file and begins anew.
// It is copied and cut, not renamed, because PostgreSQL keeps the file open (in append mode).
import { copyFileSync, statSync, truncateSync } from "node:fs";

const sizeMaxBytes = 8 * 1024 * 1024;

export function boundLog(path: string): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size <= sizeMaxBytes) return;
  copyFileSync(path, `${path}.1`);
  truncateSync(path, 0);
}
