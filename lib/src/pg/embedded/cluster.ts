// Makes PostgreSQL's own directory, whole or not at all: initdb works in a sibling of another name, which is renamed
// when it is complete and on disk. What an interrupted initdb left behind is swept away at the next start.
import {
  appendFileSync,
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
} from "node:fs";
import { readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { totalmem } from "node:os";
import { join } from "node:path";
import type { Binaries } from "./binaries.ts";
import { runCommand, type Account } from "./command.ts";
import { embeddedErrors } from "./contract.ts";
import { checkOwner, closeToOthers } from "./owner.ts";
import { newSecret, writePrivately } from "./record.ts";
import { settingsText } from "./settings.ts";

export interface Cluster {
  readonly directory: string;
  readonly password: string;
}

const unfinished = "cluster.new-";
const passwordFile = "tuntas.password";
const settingsFile = "tuntas.conf";

/** Opens the cluster in `place`, making it first if there is none. Only the holder of the lock may call this. */
export async function openCluster(
  place: string,
  binaries: Binaries,
  account: Account | undefined,
): Promise<Cluster> {
  const directory = join(place, "cluster");
  sweep(place);
  if (!existsSync(directory)) await makeCluster(place, binaries, account);
  checkOwner(directory, account?.uid);
  closeToOthers(directory);
  checkCluster(directory, binaries);
  writePrivately(join(directory, settingsFile), settingsText(totalmem(), process.platform));
  return { directory, password: readFileSync(join(directory, passwordFile), "utf8").trim() };
}

function sweep(place: string): void {
  const leftovers = readdirSync(place).filter((name) => name.startsWith(unfinished));
  for (const name of leftovers) rmSync(join(place, name), { recursive: true, force: true, maxRetries: 5 });
}

async function makeCluster(place: string, binaries: Binaries, account: Account | undefined): Promise<void> {
  // A name of its own each time: the initdb of a killed supervisor may still be writing to the last one.
  const fresh = join(place, unfinished + randomBytes(4).toString("hex"));
  const passwordSource = `${fresh}.password`;
  const password = newSecret();
  try {
    mkdirSync(fresh, { mode: 0o700 });
    writePrivately(passwordSource, password + "\n");
    if (account !== undefined)
      for (const path of [fresh, passwordSource]) chownSync(path, account.uid, account.gid);
    await initdb(fresh, passwordSource, { binaries, account });
    finishCluster(fresh, password);
    renameSync(fresh, join(place, "cluster"));
    flush(place);
  } finally {
    for (const path of [fresh, passwordSource]) rmSync(path, { recursive: true, force: true, maxRetries: 5 });
  }
}

interface Maker {
  readonly binaries: Binaries;
  readonly account: Account | undefined;
}

async function initdb(
  directory: string,
  passwordSource: string,
  { binaries, account }: Maker,
): Promise<void> {
  // PostgreSQL's built-in C.UTF-8 needs no locale of the operating system, so it is the same everywhere.
  const locale = ["--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"];
  const access = ["--username=postgres", "--auth=scram-sha-256", `--pwfile=${passwordSource}`];
  const result = await runCommand(binaries.initdb, ["-D", directory, ...locale, ...access], account);
  if (result.ok) return;
  const code = isDiskFull(result.output) ? "TUNTAS_EMBEDDED_DISK_FULL" : "TUNTAS_EMBEDDED_INITDB_FAILED";
  throw embeddedErrors.error(code, `initdb failed in ${directory}: ${complaintsOf(result.output)}`);
}

/** What initdb complains about, without its account of what went well; all that it said where nothing looks like a complaint. */
function complaintsOf(output: string): string {
  const lines = output.split("\n").filter((line) => /\b(?:FATAL|PANIC|ERROR)\b|^initdb: error/i.test(line));
  return lines.length > 0 ? lines.join("\n") : output;
}

export const isDiskFull = (output: string): boolean =>
  /No space left on device|ENOSPC|not enough space/i.test(output);

function finishCluster(directory: string, password: string): void {
  const [secret, main] = [passwordFile, "postgresql.conf"].map((name) => join(directory, name)) as [
    string,
    string,
  ];
  writePrivately(secret, password + "\n");
  appendFileSync(main, `\ninclude '${settingsFile}'\n`);
  for (const path of [secret, main, directory]) flush(path);
}

function checkCluster(directory: string, binaries: Binaries): void {
  const versionFile = join(directory, "PG_VERSION");
  if (!existsSync(versionFile) || !existsSync(join(directory, passwordFile))) {
    throw embeddedErrors.error(
      "TUNTAS_EMBEDDED_DATA_MISSING",
      `${directory} lacks PG_VERSION or ${passwordFile}.`,
    );
  }
  const found = readFileSync(versionFile, "utf8").trim();
  const expected = binaries.version.split(".")[0];
  if (found === expected) return;
  throw embeddedErrors.error(
    "TUNTAS_EMBEDDED_DATA_DIR_OTHER_VERSION",
    `${directory} is of PostgreSQL ${found}; this is PostgreSQL ${expected}.`,
  );
}

/** To the disk. Windows flushes no directory, and needs a writable handle for a file. */
function flush(path: string): void {
  if (process.platform === "win32" && statSync(path).isDirectory()) return;
  const file = openSync(path, process.platform === "win32" ? "r+" : "r");
  fsyncSync(file);
  closeSync(file);
}
