// One question to an instance: is it ready? Each kind of probe answers within its time, whatever it meets.
import { spawn } from "node:child_process";
import { get } from "node:http";
import { connect } from "node:net";
import type { Probe } from "../contract.ts";

export interface Probed {
  readonly port: number | null;
  readonly directory: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Whether the instance's process has a heartbeat in the database. */
  readonly isPresent: () => Promise<boolean>;
}

const host = "127.0.0.1";

const byHttp = (port: number, path: string, signal: AbortSignal): Promise<boolean> =>
  new Promise((resolve) => {
    get({ host, port, path, signal, agent: false }, (response) => {
      response.resume();
      const { statusCode = 0 } = response;
      resolve(statusCode >= 200 && statusCode < 400);
    }).on("error", () => resolve(false));
  });

const byTcp = (port: number, signal: AbortSignal): Promise<boolean> =>
  new Promise((resolve) => {
    const end = (ok: boolean) => {
      socket.destroy();
      resolve(ok);
    };
    const socket = connect({ host, port })
      .once("connect", () => end(true))
      .on("error", () => end(false));
    signal.addEventListener("abort", () => end(false), { once: true });
  });

const byCommand = (words: readonly string[], { directory, environment }: Probed, signal: AbortSignal) =>
  new Promise<boolean>((resolve) => {
    const [file, ...args] = words;
    spawn(file!, args, { cwd: directory, env: environment, stdio: "ignore", signal, killSignal: "SIGKILL" })
      .once("error", () => resolve(false))
      .once("exit", (status) => resolve(status === 0));
  });

/** True where it answers as it should within the time. */
export async function probeOnce(probe: Probe, of: Probed, timeoutMs: number): Promise<boolean> {
  const signal = AbortSignal.timeout(timeoutMs);
  if ("http" in probe) return byHttp(of.port!, probe.http, signal);
  if ("tcp" in probe) return byTcp(of.port!, signal);
  if ("command" in probe) return byCommand(probe.command, of, signal);
  return of.isPresent();
}
