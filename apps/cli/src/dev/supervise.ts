// `tuntas dev` itself: keeps one child that runs the application, and puts a new one in its place at each change. The
// child has a process group of its own, so that Ctrl-C reaches it once, through here; if this process dies, its end of
// the channel closes and the child goes too.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { basename, dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { makeLog, runUntilSignal } from "tuntas";
import { databaseOfEnvironment } from "../session.ts";
import type { ApplicationOptions } from "./application.ts";
import { watchSources } from "./watch.ts";

const main = fileURLToPath(new URL("../main.js", import.meta.url));
/** A handler that does not end by then is killed; its message is taken over as that of any dead process. */
const restartPatienceMs = 700;

const say = (text: string) => process.stderr.write(`tuntas dev: ${text}\n`);

function nodeOptions(): string[] {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const stripsByItself = major > 23 || (major === 23 && minor >= 6) || (major === 22 && minor >= 18);
  const stripsOnRequest = major === 23 || (major === 22 && minor >= 6);
  return !stripsByItself && stripsOnRequest
    ? ["--experimental-strip-types", "--disable-warning=ExperimentalWarning"]
    : [];
}

function begin({ file, port, host, apis }: ApplicationOptions): ChildProcess {
  const named = Object.entries(apis).flatMap(([name, url]) => ["--api", `${name}=${url}`]);
  const at = ["--port", String(port), "--host", host];
  const args = [...nodeOptions(), main, "dev", file, "--once", ...at, ...named];
  return spawn(process.execPath, args, { stdio: ["ignore", "inherit", "inherit", "ipc"], detached: true });
}

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

async function end(child: ChildProcess, patienceMs: number): Promise<void> {
  if (hasEnded(child)) return;
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), patienceMs);
  await exited;
  clearTimeout(timer);
}

/** Runs until a signal. */
export async function superviseApplication(options: ApplicationOptions): Promise<undefined> {
  let stopping = false;
  let child = launch();
  let restarting: Promise<void> = Promise.resolve();

  function launch(): ChildProcess {
    const launched = begin(options);
    launched.once("exit", (status) => {
      if (!stopping && launched === child && status !== 0) say("it has ended; waiting for a change");
    });
    return launched;
  }

  async function restart(name: string): Promise<void> {
    if (stopping) return;
    const old = child;
    say(`${name} changed; starting again`);
    await end(old, restartPatienceMs);
    if (!stopping) child = launch();
  }

  const watcher = await watchSources(
    dirname(options.file),
    resolve(databaseOfEnvironment().dataDir),
    (name) => (restarting = restarting.then(() => restart(name))),
  );
  say(`watching ${dirname(options.file)} for ${basename(options.file)}`);

  async function stop(): Promise<void> {
    if (stopping) return void child.kill("SIGTERM");
    stopping = true;
    watcher.close();
    await restarting;
    await end(child, 28_000);
  }

  runUntilSignal(stop, { log: makeLog({}, "stderr") });
  return undefined;
}
