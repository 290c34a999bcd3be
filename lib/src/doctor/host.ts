// What can be seen without a database: Node, the port, the disk.
import { statfs } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname, resolve } from "node:path";
import { existsSync } from "node:fs";
import { ok, problem, warning, type Finding } from "./contract.ts";

export function examineNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isRecent = major > 20 || (major === 20 && minor >= 19);
  return isRecent
    ? ok("node", `Node ${version}`)
    : problem("node", `Node ${version} is too old`, "Install Node 20.19 or later.");
}

const tryPort = (port: number): Promise<string | undefined> =>
  new Promise((settle) => {
    const server = createServer();
    server.once("error", (cause: NodeJS.ErrnoException) => settle(cause.code ?? "error"));
    server.listen(port, "127.0.0.1", () => server.close(() => settle(undefined)));
  });

async function isOurs(port: number): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${port}/_tuntas/health`, {
    signal: AbortSignal.timeout(2000),
  }).catch(() => undefined);
  return answer?.ok === true;
}

export async function examinePort(port: number): Promise<Finding> {
  const refusal = await tryPort(port);
  if (refusal === undefined) return ok("port", `port ${port} is free`);
  if (await isOurs(port)) return ok("port", `a Tuntas gateway listens on port ${port} already`);
  const why = refusal === "EADDRINUSE" ? "is taken by another process" : `cannot be used (${refusal})`;
  return problem(
    "port",
    `port ${port} ${why}`,
    "End that process, or set TUNTAS_PORT to a free port (0 takes any).",
  );
}

const mebibyte = 1024 * 1024;
const littleMebibytes = 1024;
const tooLittleMebibytes = 128;

/** The room on the disk of the data directory. */
export async function examineDisk(dataDir: string): Promise<Finding> {
  let place = resolve(dataDir);
  while (!existsSync(place)) place = dirname(place);
  const { bavail, bsize } = await statfs(place);
  const free = Math.floor((bavail * bsize) / mebibyte);
  const text = `${free} MiB free where ${resolve(dataDir)} lies`;
  if (free < tooLittleMebibytes)
    return problem("disk", text, "Free some space; a new database takes about 60 MB, and its log more.");
  return free < littleMebibytes
    ? warning("disk", text, "Free some space before the database needs it.")
    : ok("disk", text);
}
