// The lock that makes one supervisor a data directory. It must vanish with its owner, kill -9 included, so it is
// never a file's mere existence but something that the kernel holds for the process: on Linux a name in the abstract
// socket name space, on Windows a named pipe, on macOS an flock taken by open(2). See
// docs/decisions/0002-embedded-server.md.
import { closeSync, constants, openSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";

export interface Lock {
  release(): void;
}

/** Takes the directory's lock at once, or answers undefined because somebody holds it. Never waits. */
export async function takeLock(dataDir: string): Promise<Lock | undefined> {
  if (process.platform === "win32") return lockByName(`\\\\.\\pipe\\tuntas-${identity(dataDir)}`);
  if (process.platform === "linux") return lockByName(`\0tuntas-${identity(dataDir)}`);
  return lockByFile(join(dataDir, "supervisor.lock"));
}

/** Device and inode: the same directory by whatever path, and another one after it was deleted and made again. */
function identity(dataDir: string): string {
  const { dev, ino } = statSync(dataDir, { bigint: true });
  return `${dev}-${ino}`;
}

function lockByName(name: string): Promise<Lock | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", (error: NodeJS.ErrnoException) =>
      error.code === "EADDRINUSE" || error.code === "EACCES" ? resolve(undefined) : reject(error),
    );
    server.listen({ path: name, exclusive: true }, () => resolve({ release: () => server.close() }));
  });
}

/** O_EXLOCK of macOS and the BSDs, which Node passes through and does not name. */
const O_EXLOCK = 0x20;

function lockByFile(path: string): Lock | undefined {
  try {
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_NONBLOCK | O_EXLOCK;
    const file = openSync(path, flags, 0o600);
    return { release: () => closeSync(file) };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "EAGAIN" || code === "EWOULDBLOCK") return undefined;
    throw error;
  }
}
