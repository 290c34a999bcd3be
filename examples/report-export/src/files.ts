// The files of an export, in a folder that stands for the object store. A file is whole or not there, and writing it again
// under its name is harmless.
import { randomUUID } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

const at = (name: string): string => join(process.env.EXPORT_DIR || ".exports", name);

/** Once the signal aborts nothing appears any more: whoever cleans up shortly after it finds all there is. */
export async function putFile(name: string, text: string, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const attempt = at(`${name}.${randomUUID()}`);
  await mkdir(dirname(attempt), { recursive: true });
  await writeFile(attempt, text, { signal });
  await rename(attempt, at(name));
}

export const getFile = (name: string): Promise<string> => readFile(at(name), "utf8");

/** With all that attempts have left behind. */
export const removeFiles = (folder: string): Promise<void> =>
  rm(at(folder), { recursive: true, force: true });
