// PostgreSQL refuses to run as root. There, it runs as an account that exists already and has no rights.
import { statSync } from "node:fs";
import { join } from "node:path";
import { embeddedErrors } from "./contract.ts";
import { runCommand, type Account } from "./command.ts";

const candidates = ["postgres", "nobody"];

/** The account to run PostgreSQL as, or undefined where our own will do. An existing cluster keeps its owner. */
export async function findAccount(dataDir: string): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  return clusterOwner(dataDir) ?? (await unprivilegedAccount());
}

function clusterOwner(dataDir: string): Account | undefined {
  const { uid = 0, gid = 0 } = statSync(join(dataDir, "cluster"), { throwIfNoEntry: false }) ?? {};
  return uid === 0 ? undefined : { uid, gid };
}

async function unprivilegedAccount(): Promise<Account> {
  for (const name of candidates) {
    const [uid, gid] = await Promise.all([runCommand("id", ["-u", name]), runCommand("id", ["-g", name])]);
    if (uid.ok && gid.ok) return { uid: asInt32(uid.output), gid: asInt32(gid.output) };
  }
  throw embeddedErrors.error(
    "TUNTAS_EMBEDDED_ACCOUNT_MISSING",
    `Running as root, and none of ${candidates.join(", ")} exists.`,
  );
}

/** macOS gives `nobody` the uid -2 and may print it as 4294967294; Node takes the signed form only. */
const asInt32 = (text: string): number => Number(text) | 0;

/** Whether the account can enter the directory; asked of the system, which knows about every parent and ACL. */
export async function canEnter(directory: string, account: Account | undefined): Promise<boolean> {
  if (account === undefined) return true;
  return (await runCommand("/bin/sh", ["-c", 'cd "$0"', directory], account)).ok;
}
