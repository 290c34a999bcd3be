// Starts, adopts, watches and stops the one PostgreSQL of a cluster. Only the holder of the data directory's lock
// calls this, so there is never a second one.
import { spawn } from "node:child_process";
import { closeSync, fstatSync, readFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { parse } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Binaries } from "./binaries.ts";
import { isDiskFull } from "./cluster.ts";
import { plainEnvironment, runCommand, type Account } from "./command.ts";
import { embeddedErrors, type EmbeddedErrorCode } from "./contract.ts";
import { openLog } from "./log.ts";
import { disarmPidFile, findPostmaster, isPostmasterOf, readPidFile } from "./pidfile.ts";

export interface PostmasterPlan {
  readonly binaries: Binaries;
  readonly cluster: string;
  readonly account: Account | undefined;
  readonly logPath: string;
}

export interface Postmaster {
  readonly pid: number;
  readonly port: number;
  /** Fulfilled when the process has gone, for whatever reason. */
  readonly gone: Promise<void>;
}

const pollMs = 10;
const adoptedPollMs = 500;
const orphanPatienceMs = 30_000;
const stopPatienceMs = 60_000;
const portsTriedMax = 5;

/** The cluster's live PostgreSQL if it has one (its supervisor was killed), else a fresh one. */
export async function adoptOrStart(
  plan: PostmasterPlan,
  preferredPort: number | undefined,
): Promise<Postmaster> {
  const pid = await findPostmaster(plan.cluster);
  const adopted = pid === undefined ? undefined : await adopt(plan.cluster, pid);
  return adopted ?? startOnFreePort(plan, preferredPort);
}

/** Undefined if it ended before it was ready. */
async function adopt(cluster: string, pid: number): Promise<Postmaster | undefined> {
  const gone = whenGone(pid, cluster);
  const port = await whenReady(cluster, pid, gone);
  return port === undefined ? undefined : { pid, port, gone };
}

/** Not our child, so no exit is reported: we look. */
async function whenGone(pid: number, cluster: string): Promise<void> {
  while (await isPostmasterOf(pid, cluster)) await sleep(adoptedPollMs);
}

/** The port once PostgreSQL accepts connections, however long its recovery takes; undefined if it has gone before. */
async function whenReady(cluster: string, pid: number, gone: Promise<void>): Promise<number | undefined> {
  for (;;) {
    const file = readPidFile(cluster);
    if (file?.pid === pid && file.ready) return file.port;
    if (await Promise.race([gone.then(() => true), sleep(pollMs, false)])) return undefined;
  }
}

async function startOnFreePort(plan: PostmasterPlan, preferredPort: number | undefined): Promise<Postmaster> {
  let output = "";
  for (let tried = 0; tried < portsTriedMax; tried++) {
    const port = await freePort(tried === 0 ? preferredPort : undefined);
    const started = await startOn(plan, port);
    if (typeof started !== "string") return started;
    output = started;
    if (!isPortTaken(output)) break;
  }
  throw embeddedErrors.error(whyNot(output), `PostgreSQL ended before it was ready: ${output}`);
}

const isPortTaken = (output: string): boolean =>
  /could not bind|could not create any TCP\/IP sockets/.test(output);

function whyNot(output: string): EmbeddedErrorCode {
  if (isDiskFull(output)) return "TUNTAS_EMBEDDED_DISK_FULL";
  return isPortTaken(output) ? "TUNTAS_EMBEDDED_PORT_TAKEN" : "TUNTAS_EMBEDDED_START_FAILED";
}

function freePort(preferred = 0): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", (error) => (preferred === 0 ? reject(error) : resolve(freePort())));
    probe.listen({ port: preferred, host: "127.0.0.1", exclusive: true }, () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}

/** Starts PostgreSQL on exactly this port; answers its last words if it ended before it was ready. */
export async function startOn(plan: PostmasterPlan, port: number): Promise<Postmaster | string> {
  for (let waitedMs = 0; ; waitedMs += 100) {
    disarmPidFile(plan.cluster);
    const started = await tryStart(plan, port);
    // Sessions of a killed postmaster end by themselves; PostgreSQL refuses to start until the last one has.
    const mustWait = typeof started === "string" && /shared memory block .* is still in use/.test(started);
    if (!mustWait || waitedMs >= orphanPatienceMs) return started;
    await sleep(100);
  }
}

async function tryStart(plan: PostmasterPlan, port: number): Promise<Postmaster | string> {
  const log = openLog(plan.logPath);
  const logStart = fstatSync(log).size;
  try {
    const launched = process.platform === "win32" ? await launchByPgCtl(plan, port) : launch(plan, port, log);
    const ready = launched && (await whenReady(plan.cluster, launched.pid, launched.gone));
    if (launched !== undefined && ready !== undefined) return { ...launched, port };
    return readFileSync(plan.logPath).subarray(logStart).toString("utf8").trim();
  } finally {
    closeSync(log);
  }
}

type Launched = Omit<Postmaster, "port">;

function launch(plan: PostmasterPlan, port: number, log: number): Launched | undefined {
  const child = spawn(plan.binaries.postgres, ["-D", plan.cluster, "-p", String(port)], {
    ...plan.account,
    cwd: parse(plan.cluster).root,
    env: plainEnvironment(),
    detached: true,
    stdio: ["ignore", log, log],
  });
  const gone = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", () => resolve());
  });
  return child.pid === undefined ? undefined : { pid: child.pid, gone };
}

/** postgres.exe refuses an administrator's rights; pg_ctl drops them. What it starts is nobody's child. */
async function launchByPgCtl(plan: PostmasterPlan, port: number): Promise<Launched | undefined> {
  await runCommand(plan.binaries.pgCtl, [
    "start",
    "-D",
    plan.cluster,
    "-l",
    plan.logPath,
    "-w",
    "-o",
    `-p ${port}`,
  ]);
  const pid = await findPostmaster(plan.cluster);
  return pid === undefined ? undefined : { pid, gone: whenGone(pid, plan.cluster) };
}

/**
 * PostgreSQL's fast shutdown: sessions are ended, everything is flushed. Waits until the process has gone. A shutdown
 * that hangs is turned into an immediate one, which loses nothing: the next start replays the log.
 */
export async function stop(postmaster: Postmaster, plan: PostmasterPlan): Promise<void> {
  await askToStop(postmaster, plan, "fast");
  const impatience = setTimeout(() => void askToStop(postmaster, plan, "immediate"), stopPatienceMs);
  await postmaster.gone;
  clearTimeout(impatience);
}

async function askToStop(
  { pid }: Postmaster,
  plan: PostmasterPlan,
  mode: "fast" | "immediate",
): Promise<void> {
  if (process.platform === "win32") {
    await runCommand(plan.binaries.pgCtl, ["stop", "-D", plan.cluster, "-m", mode, "-W"]);
  } else {
    signal(pid, mode === "fast" ? "SIGINT" : "SIGQUIT");
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
