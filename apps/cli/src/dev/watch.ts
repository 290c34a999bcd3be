// Tells when a source file below a folder changes. Each folder has a watcher of its own: a recursive one would walk
// node_modules too, which takes seconds.
import { watch, type FSWatcher } from "node:fs";
import { readdir } from "node:fs/promises";
import { extname, join } from "node:path";

const notSource = new Set(["node_modules", "dist", "coverage"]);
const code = new Set([".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx"]);
const documents = new Set([".json", ".yaml", ".yml"]);
/** What package managers and compilers keep beside the code. */
const ofTools = /^\.?(package|package-lock|npm-shrinkwrap|pnpm-.*|tsconfig.*|jsconfig.*)\.(json|ya?ml)$/;
const ofTests = /\.(test|spec)\.[cm]?[jt]sx?$/;
// An editor writes a file in several steps.
const quietMs = 60;

/** Whether what runs can depend on it: code, and documents such as those of workflows. */
export function isSource(name: string): boolean {
  const extension = extname(name);
  if (code.has(extension)) return !ofTests.test(name);
  return documents.has(extension) && !ofTools.test(name);
}

async function* foldersOf(root: string, except: string): AsyncGenerator<string> {
  if (root === except) return;
  yield root;
  for (const entry of await readdir(root, { withFileTypes: true }).catch(() => [])) {
    if (entry.isDirectory() && !entry.name.startsWith(".") && !notSource.has(entry.name))
      yield* foldersOf(join(root, entry.name), except);
  }
}

/** Calls `onChange` with a changed file's name, once for changes that come together. The data directory is left out. */
export async function watchSources(
  root: string,
  dataDir: string,
  onChange: (name: string) => void,
): Promise<{ close(): void }> {
  const watchers = new Map<string, FSWatcher>();
  let timer: NodeJS.Timeout | undefined;

  function changed(name: string): void {
    clearTimeout(timer);
    timer = setTimeout(() => {
      void cover();
      onChange(name);
    }, quietMs);
  }

  /** Watches the folders that are new. */
  async function cover(): Promise<void> {
    for await (const folder of foldersOf(root, dataDir)) {
      if (watchers.has(folder)) continue;
      const watcher = watch(folder, (_, name) => name !== null && isSource(name) && changed(name));
      watcher.on("error", () => watchers.delete(folder));
      watchers.set(folder, watcher);
    }
  }

  await cover();
  return {
    close() {
      clearTimeout(timer);
      for (const watcher of watchers.values()) watcher.close();
    },
  };
}
