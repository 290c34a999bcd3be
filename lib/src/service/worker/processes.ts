// Processes of this machine: started so that none runs before it is on record, and looked at together in one table.
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { closeSync, readdirSync, readFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import type { Writable } from "node:stream";
import { promisify } from "node:util";
import { openOutput } from "../output.ts";

export interface ProcessFacts {
  readonly pid: number;
  readonly group: number;
  readonly memoryBytes: number;
  readonly cpuSeconds: number;
  /** When it began, as the system says it: tells it from a later process with its number. */
  readonly identity: string;
}

/** What of each process group lives, by the group's number. What has ended and only waits to be reaped does not. */
export type ProcessTable = ReadonlyMap<number, readonly ProcessFacts[]>;

const pageBytes = 4096;
const ticksPerSecond = 100;

function linuxFacts(pid: string): ProcessFacts | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name, in parentheses, may hold spaces and parentheses itself.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (fields[0] === "Z" || fields[0] === "X") return undefined;
    return {
      pid: Number(pid),
      group: Number(fields[2]),
      memoryBytes: Number(fields[21]) * pageBytes,
      cpuSeconds: (Number(fields[11]) + Number(fields[12])) / ticksPerSecond,
      identity: fields[19]!,
    };
  } catch {
    return undefined; // It has ended meanwhile.
  }
}

/** `[[dd-]hh:]mm:ss`, as POSIX has it; on macOS minutes without end and hundredths: `1029:33.44`. */
const secondsOf = (time: string): number =>
  time
    .split(/[-:]/)
    .reduce((sum, part, index, all) => sum * (all.length === 4 && index === 1 ? 24 : 60) + Number(part), 0);

// An option each: on macOS and the BSDs, as POSIX allows, a header is the rest of its option, commas and all.
const psColumns = ["pid", "pgid", "rss", "time", "stat", "lstart"].flatMap((name) => ["-o", `${name}=`]);

/** What `ps` says of each process. */
export const factsOfPs = (lines: string): ProcessFacts[] =>
  lines.split("\n").flatMap((line) => {
    const [pid, group, kibibytes, time, state, ...began] = line.trim().split(/\s+/);
    if (!pid || state?.startsWith("Z")) return [];
    const [memoryBytes, cpuSeconds] = [Number(kibibytes) * 1024, secondsOf(time ?? "0")];
    return { pid: Number(pid), group: Number(group), memoryBytes, cpuSeconds, identity: began.join(" ") };
  });

/** Where there is no /proc. */
export async function readByPs(): Promise<ProcessFacts[]> {
  const env = { ...process.env, LC_ALL: "C" };
  const { stdout } = await promisify(execFile)("ps", ["-A", ...psColumns], { env, maxBuffer: 64 << 20 });
  return factsOfPs(stdout);
}

export async function readProcesses(): Promise<ProcessTable> {
  const all =
    process.platform === "linux"
      ? readdirSync("/proc").flatMap((name) => (/^\d/.test(name) ? (linuxFacts(name) ?? []) : []))
      : await readByPs();
  const table = new Map<number, ProcessFacts[]>();
  for (const facts of all) table.set(facts.group, [...(table.get(facts.group) ?? []), facts]);
  return table;
}

/** Sends the signal to the whole group, whatever of it still lives. */
export function signalGroup(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal);
  } catch {
    // Nothing of it is left.
  }
}

export interface Command {
  readonly words: readonly string[];
  readonly directory: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Where what it prints goes. */
  readonly output: string;
}

export interface Held {
  readonly child: ChildProcess;
  readonly pid: number;
  /** Lets it run. If this process ends without that, it ends too and has done nothing. */
  release(): void;
}

/** Reads a line before it becomes the command, so that its number can be written down first. */
const gate = 'read -r go <&3 && exec "$@" 3<&-';

/** Starts a process of a group of its own, which waits to be released. Undefined where the system refuses. */
export async function startHeld({
  words,
  directory,
  environment,
  output,
}: Command): Promise<Held | undefined> {
  const file = openOutput(output);
  try {
    const child = spawn("/bin/sh", ["-c", gate, "tuntas-instance", ...words], {
      cwd: directory,
      env: environment,
      detached: true,
      stdio: ["ignore", file, file, "pipe"],
    });
    const failed = new Promise<void>((resolve) => child.once("error", () => resolve()));
    const { pid } = child;
    if (pid === undefined) return void (await failed);
    const go = child.stdio[3] as Writable;
    go.on("error", () => undefined);
    child.unref();
    return { child, pid, release: () => void go.end("go\n") };
  } finally {
    closeSync(file);
  }
}

/** Ports that are free now. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolve, reject) => {
          server.once("error", reject);
          server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
        }),
    ),
  );
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
