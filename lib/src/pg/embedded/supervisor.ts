// The process that owns the embedded server of one data directory: `node supervisor.js DATA_DIR`, started by the
// first process that attaches, in a session of its own. It holds the lock, keeps PostgreSQL running as long as
// anybody is attached, and stops it 5 s after the last one has gone. If somebody else holds the lock, it ends at once.
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isTuntasError } from "../../core/error.ts";
import { findAccount } from "./account.ts";
import { makeAudience, type Audience } from "./audience.ts";
import { findBinaries } from "./binaries.ts";
import { isDiskFull, openCluster } from "./cluster.ts";
import { serveControl, type Greeting } from "./control.ts";
import { takeLock } from "./lock.ts";
import { boundLog } from "./log.ts";
import { findPlace } from "./place.ts";
import { adoptOrStart, startOn, stop, type Postmaster, type PostmasterPlan } from "./postmaster.ts";
import { newSecret, readRecord, touchRecord, writeRecord, type LiveServer } from "./record.ts";

const idleMs = 5_000;
const housekeepingMs = 2_000;
const restartPauseMs = 500;

interface Server {
  readonly plan: PostmasterPlan;
  readonly postmaster: Postmaster;
  readonly url: string;
}

const dataDir = process.argv[2] ?? "";
const logPath = join(dataDir, "postgres.log");
const token = newSecret();
const lock = await takeLock(dataDir);
if (lock !== undefined) {
  await supervise();
  lock.release();
}
process.exit(0);

async function supervise(): Promise<void> {
  const audience = makeAudience(idleMs);
  const control = await serveControl(token, audience.join);
  const live = { host: hostname(), supervisorPid: process.pid, controlPort: control.port, token };
  const ended = Promise.race([audience.deserted, whenTerminated(), whenDirectoryGone()]).then(audience.close);
  const server = await startServer(live, audience);
  if (server !== undefined) await keepRunning(server, audience, ended);
  else await ended;
  control.close();
}

/** Starts the server and tells everybody; undefined if that failed, which everybody is told as well. */
async function startServer(live: LiveServer, audience: Audience): Promise<Server | undefined> {
  try {
    const { port } = readRecord(dataDir);
    writeRecord(dataDir, port === undefined ? { live } : { port, live });
    const { plan, password } = await prepare();
    const postmaster = await adoptOrStart(plan, port);
    const url = `postgres://postgres:${password}@127.0.0.1:${postmaster.port}/postgres`;
    writeRecord(dataDir, { port: postmaster.port, live: { ...live, url } });
    audience.announce({ kind: "ready", url, version: plan.binaries.version });
    return { plan, postmaster, url };
  } catch (error) {
    audience.announce(failure(error));
    return undefined;
  }
}

async function prepare(): Promise<{ plan: PostmasterPlan; password: string }> {
  const account = await findAccount(dataDir);
  const place = await findPlace(dataDir, account);
  const binaries = await findBinaries(place, account);
  const cluster = await openCluster(place, binaries, account);
  return { plan: { binaries, account, cluster: cluster.directory, logPath }, password: cluster.password };
}

function failure(error: unknown): Greeting {
  if (isTuntasError(error)) return { kind: "failed", code: error.code, message: error.message };
  const message = error instanceof Error ? error.message : String(error);
  if (isDiskFull(message)) return { kind: "failed", code: "TUNTAS_EMBEDDED_DISK_FULL", message };
  const code = /EACCES|EPERM/.test(message)
    ? "TUNTAS_EMBEDDED_DATA_DIR_DENIED"
    : "TUNTAS_EMBEDDED_START_FAILED";
  return { kind: "failed", code, message };
}

/** Until the end: restarts a PostgreSQL that died. At the end: stops it. */
async function keepRunning(server: Server, audience: Audience, ended: Promise<void>): Promise<void> {
  let { postmaster } = server;
  const { plan } = server;
  for (;;) {
    const event = await Promise.race([ended.then(() => "ended"), postmaster.gone.then(() => "died")]);
    if (event === "ended") break;
    audience.announce({ kind: "starting" });
    const restarted = await restart(server, ended);
    if (restarted === undefined) return;
    postmaster = restarted;
    audience.announce({ kind: "ready", url: server.url, version: plan.binaries.version });
  }
  await stop(postmaster, plan);
  if (touchRecord(dataDir, token)) writeRecord(dataDir, { port: postmaster.port });
}

/** On the same port, so that clients find it under the same URL; tries until it works or nobody cares any more. */
async function restart(server: Server, ended: Promise<void>): Promise<Postmaster | undefined> {
  for (;;) {
    const started = await startOn(server.plan, server.postmaster.port);
    if (typeof started !== "string") return started;
    const event = await Promise.race([ended.then(() => "ended"), sleep(restartPauseMs, "again")]);
    if (event === "ended") return undefined;
  }
}

/** A polite request ends the server; processes that are still attached will start it again. */
function whenTerminated(): Promise<void> {
  return new Promise((resolve) => {
    process.once("SIGTERM", () => resolve());
    process.once("SIGINT", () => resolve());
  });
}

/** Somebody may delete the data directory: then nothing must stay behind. Keeps house on the way. */
async function whenDirectoryGone(): Promise<void> {
  do {
    await sleep(housekeepingMs);
    boundLog(logPath);
  } while (touchRecord(dataDir, token));
}
