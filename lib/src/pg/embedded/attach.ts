// The asking side: finds the data directory's supervisor or starts one, and stays attached to it. If the supervisor
// is killed, the attachment brings a new one up, which adopts the PostgreSQL that went on running.
import { spawn, type ChildProcess } from "node:child_process";
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  statSync,
} from "node:fs";
import { hostname } from "node:os";
import { dirname, join, parse, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import {
  embeddedErrors,
  type EmbeddedErrorCode,
  type EmbeddedOptions,
  type EmbeddedServer,
} from "./contract.ts";
import { connectControl, type Connection } from "./control.ts";
import { boundLog, openLog } from "./log.ts";
import { wrongOwner } from "./owner.ts";
import { readRecord, recordTouchedAtMs, type LiveServer } from "./record.ts";

const patienceMs = 120_000;
const lookAgainMs = 20;
const spawnAgainMs = 100;
const attachAgainMs = 1_000;
/** Longer than the supervisor's pause between two touches of its record. */
const signOfLifeMs = 5_000;

/**
 * Attaches this process to the embedded PostgreSQL of a data directory, starting it if need be, and answers when it
 * accepts connections. The attachment does not keep the process alive.
 */
export async function attachEmbedded(options: EmbeddedOptions): Promise<EmbeddedServer> {
  const dataDir = openDataDir(resolve(options.dataDir));
  const connection = await reach(dataDir);
  const { greeting } = connection;
  if (greeting.kind === "failed") {
    connection.socket.destroy();
    throw embeddedErrors.error(greeting.code as EmbeddedErrorCode, greeting.message);
  }
  return { url: greeting.url, version: greeting.version, detach: stayAttached(dataDir, connection) };
}

function openDataDir(path: string): string {
  try {
    makeDirectory(path);
    if (!statSync(path).isDirectory()) throw new Error("expected a folder, got a file");
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
    readRecord(path);
    return realpathSync(path);
  } catch (cause) {
    throw unusable(path, cause as NodeJS.ErrnoException);
  }
}

function unusable(path: string, cause: NodeJS.ErrnoException): Error {
  const code = cause.code === "ENOSPC" ? "TUNTAS_EMBEDDED_DISK_FULL" : "TUNTAS_EMBEDDED_DATA_DIR_DENIED";
  const wrong = cause.code === "EACCES" ? wrongOwner(cause.path ?? path, path) : undefined;
  return embeddedErrors.error(code, `${path} cannot be used: ${wrong ?? cause.message}`, { cause });
}

/** With the folders above it. mkdirSync's own `recursive` tries for ever below /proc (Node 20 and 24). */
function makeDirectory(path: string): void {
  try {
    if (existsSync(path)) return;
    makeDirectory(dirname(path));
    mkdirSync(path);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause;
  }
}

/** Attaches again whenever the supervisor is lost, until the function that it answers is called. */
function stayAttached(dataDir: string, first: Connection): () => Promise<void> {
  const letGo = new AbortController();
  let { socket } = first;
  const hold = (connection: Connection): void => {
    socket = connection.socket.unref();
    if (letGo.signal.aborted) socket.destroy();
    else
      socket.once("close", () => void attachAgain(dataDir, letGo.signal).then((next) => next && hold(next)));
  };
  hold(first);
  return async () => {
    letGo.abort();
    if (!socket.closed) await new Promise((resolve) => socket.ref().once("close", resolve).destroy());
  };
}

async function attachAgain(dataDir: string, letGo: AbortSignal): Promise<Connection | undefined> {
  while (!letGo.aborted) {
    const next = await reach(dataDir, { background: true }).catch(() => undefined);
    if (next?.greeting.kind === "ready") return next;
    next?.socket.destroy();
    await sleep(attachAgainMs, undefined, { ref: false });
  }
  return undefined;
}

interface ReachOptions {
  /** Nothing of it keeps the process alive. */
  readonly background?: boolean;
}

/** Connects to the data directory's supervisor; starts one, again and again, while there is none. */
async function reach(dataDir: string, { background = false }: ReachOptions = {}): Promise<Connection> {
  const supervisor = supervisorStarter(dataDir);
  const giveUpAt = performance.now() + patienceMs;
  while (performance.now() < giveUpAt) {
    const { live } = readRecord(dataDir);
    const connection = live && (await connectControl(live.controlPort, live.token));
    if (connection !== undefined) return connection;
    if (live !== undefined) await refuseOtherMachine(dataDir, live);
    supervisor.ensure();
    await sleep(lookAgainMs, undefined, { ref: !background });
  }
  throw embeddedErrors.error(
    "TUNTAS_EMBEDDED_START_TIMEOUT",
    `${dataDir}: no server within ${patienceMs / 1000} s.`,
  );
}

async function refuseOtherMachine(dataDir: string, live: LiveServer): Promise<void> {
  if (live.host === hostname()) return;
  const before = recordTouchedAtMs(dataDir);
  await sleep(signOfLifeMs);
  if (recordTouchedAtMs(dataDir) === before || readRecord(dataDir).live?.host !== live.host) return;
  throw embeddedErrors.error(
    "TUNTAS_EMBEDDED_DATA_DIR_OTHER_MACHINE",
    `${dataDir} is in use on ${live.host}.`,
  );
}

/** Keeps one supervisor process in flight. One that ends well has found that another holds the lock. */
function supervisorStarter(dataDir: string): { ensure(): void } {
  let child: ChildProcess | undefined;
  let endedAt = -Infinity;
  let failure: string | undefined;
  function start(): ChildProcess {
    const started = spawnSupervisor(dataDir);
    started.once("error", (error) => (failure = error.message));
    started.once("exit", (code, signal) => {
      endedAt = performance.now();
      child = undefined;
      if (code !== 0 && signal === null) failure = lastWords(dataDir);
    });
    started.unref(); // who waits for it, waits by looking again
    return started;
  }
  return {
    ensure() {
      if (failure !== undefined) throw embeddedErrors.error("TUNTAS_EMBEDDED_SUPERVISOR_MISSING", failure);
      if (performance.now() - endedAt > spawnAgainMs) child ??= start();
    },
  };
}

function spawnSupervisor(dataDir: string): ChildProcess {
  const logPath = join(dataDir, "supervisor.log");
  boundLog(logPath);
  const log = openLog(logPath);
  const { NODE_OPTIONS: _, ...env } = process.env;
  const options = {
    detached: true,
    windowsHide: true,
    stdio: ["ignore", log, log] as ["ignore", number, number],
  };
  try {
    return spawn(process.execPath, [supervisorPath(), dataDir], {
      ...options,
      env,
      cwd: parse(dataDir).root,
    });
  } finally {
    closeSync(log);
  }
}

/** The supervisor is always the built one: when this file runs from src/ (vitest), it is looked for in dist/. */
function supervisorPath(): string {
  const built = import.meta.url.replace(/\/src\/pg\/embedded\/attach\.ts.*$/, "/dist/pg/embedded/attach.js");
  const path = fileURLToPath(new URL("supervisor.js", built));
  if (existsSync(path)) return path;
  throw embeddedErrors.error("TUNTAS_EMBEDDED_SUPERVISOR_MISSING", `${path} does not exist.`);
}

/** Somebody may have deleted the directory meanwhile: that is no news, and no reason to fail in an event's listener. */
function lastWords(dataDir: string): string {
  try {
    const words = readFileSync(join(dataDir, "supervisor.log"), "utf8").trim().slice(-2_000);
    return words || "The supervisor ended without a word.";
  } catch (cause) {
    return `The supervisor ended, and its log cannot be read: ${(cause as Error).message}`;
  }
}
