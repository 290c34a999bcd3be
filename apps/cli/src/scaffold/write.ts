// Writes what is new into a folder: all of it or nothing, and never over what is there.
import { lstatSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { cliErrors } from "../errors.ts";
import type { NewFile } from "./files.ts";

const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

/** The first part of the path that is there and cannot be gone into; undefined where there is room for it. */
function wayTo(folder: string, path: string): string | undefined {
  const parts = path.split("/");
  const above = parts.slice(0, -1).map((_, index) => parts.slice(0, index + 1).join("/"));
  const isBlocked = (each: string) =>
    isThere(join(folder, each)) && !statSync(join(folder, each), { throwIfNoEntry: false })?.isDirectory();
  return above.find(isBlocked) ?? (isThere(join(folder, path)) ? path : undefined);
}

/** Errors: TUNTAS_FILE_EXISTS, which names all that is in the way. */
export function requireRoom(folder: string, files: readonly NewFile[]): void {
  const blocked = [...new Set(files.flatMap(({ path }) => wayTo(folder, path) ?? []))];
  if (blocked.length === 0) return;
  throw cliErrors.error(
    "TUNTAS_FILE_EXISTS",
    `expected nothing in the way, found ${blocked.join(", ")}; nothing was written`,
    { details: { files: blocked } },
  );
}

export const missingOf = (folder: string, files: readonly NewFile[]): NewFile[] =>
  files.filter(({ path }) => !isThere(join(folder, path)));

export function writeAll(folder: string, files: readonly NewFile[]): void {
  for (const { path, text } of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text, { flag: "wx" });
  }
}
