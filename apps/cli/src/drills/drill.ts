// What a drill is: trouble made on purpose on a database that is thrown away, by real processes, and what was expected of it
// beside what was seen.
import { mkdtempSync, rmSync } from "node:fs";
import { spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { makeLog, openPlatform, type Platform } from "tuntas";
import { watchProcess, type TestProcess } from "tuntas/testing";

export interface Check {
  readonly what: string;
  readonly expected: string;
  readonly observed: string;
  readonly ok: boolean;
}

export interface DrillReport {
  readonly drill: string;
  readonly does: string;
  readonly lesson: string;
  readonly startedAt: string;
  readonly tookMs: number;
  readonly asExpected: boolean;
  readonly checks: readonly Check[];
  /** What explains it: events of a service, reasons why instances stopped, curves. */
  readonly evidence: Readonly<Record<string, unknown>>;
}

export interface Drill {
  readonly does: string;
  readonly lesson: string;
  run(stage: Stage): Promise<void>;
}

/** Where drills take place, one after another. */
export interface Stage {
  readonly platform: Platform;
  /** Of this machine's own services. */
  readonly folder: string;
  /** Notes what was expected beside what was seen; equal as JSON is as expected, unless `fits` says. */
  check(what: string, of: { expected: unknown; observed: unknown; ok?: boolean }): void;
  note(name: string, value: unknown): void;
  /** Begins a process of this folder, on the same database. */
  begin(file: string, environment?: Readonly<Record<string, string>>): TestProcess;
  /** The rows of one statement. */
  query(text: string, values?: readonly unknown[]): Promise<any[]>;
  /** Runs what is given while the table takes no rows. */
  whileHeld<T>(table: string, work: () => Promise<T>): Promise<T>;
}

const patienceMs = 120_000;

/** Looks until it fits, or for two minutes; answers what was seen last. */
export async function seen<T>(look: () => Promise<T>, fits: (value: T) => boolean): Promise<T> {
  const end = performance.now() + patienceMs;
  for (;;) {
    const value = await look();
    if (fits(value) || performance.now() > end) return value;
    await pause(50);
  }
}

/** The line, or undefined where it does not come within two minutes or the process ends first. */
export const lineOf = (running: TestProcess, fits: Parameters<TestProcess["line"]>[0]) =>
  Promise.race([running.line(fits), pause(patienceMs, undefined, { ref: false })]).catch(() => undefined);

/** That the shipped alarm goes off: it looks at figures of whole samples. */
export async function checkAlarm({ platform, check, note }: Stage, alarm: string): Promise<void> {
  const fired = async () => {
    await platform.sample();
    return (await platform.alarms.list()).find(({ name, state }) => name === alarm && state === "ALARM");
  };
  const rung = await seen(fired, (found) => found !== undefined);
  check(`the alarm ${alarm} is on`, { expected: "ALARM", observed: rung?.state ?? "quiet" });
  note("alarm", rung);
}

const asText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

interface House {
  readonly platform: Platform;
  readonly folder: string;
  readonly processes: TestProcess[];
  close(): Promise<void>;
}

/** A database of its own in a folder of its own; both are gone when it is closed, with all processes. */
async function openHouse(): Promise<House> {
  const folder = mkdtempSync(join(tmpdir(), "tuntas-drill-"));
  process.env.TUNTAS_LOG_LEVEL = "silent";
  const log = makeLog({ service: "drill" });
  const platform = await openPlatform({ dataDir: join(folder, "data"), name: "drill", log });
  const processes: TestProcess[] = [];
  return {
    platform,
    folder,
    processes,
    async close() {
      for (const running of processes) await running.kill();
      await platform.close();
      rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
    },
  };
}

function begin({ folder, processes }: House, file: string, environment: Readonly<Record<string, string>>) {
  const { npm_command: _, npm_lifecycle_event: __, DATABASE_URL: ___, ...inherited } = process.env;
  const env = {
    ...inherited,
    TUNTAS_DATA_DIR: join(folder, "data"),
    TUNTAS_LOG_LEVEL: "info",
    ...environment,
  };
  const path = fileURLToPath(new URL(file, import.meta.url));
  const running = watchProcess(spawn(process.execPath, [path], { env, stdio: ["ignore", "pipe", "pipe"] }));
  processes.push(running);
  return running;
}

function stageOf(house: House, checks: Check[], evidence: Record<string, unknown>): Stage {
  const { platform, folder } = house;
  const { database } = platform;
  const query = (text: string, values: readonly unknown[] = []) =>
    database.transaction(async ({ client }) => (await client.query(text, [...values])).rows);
  return {
    platform,
    folder,
    query,
    begin: (file, environment = {}) => begin(house, file, environment),
    check(what, { expected, observed, ok }) {
      const [wanted, found] = [asText(expected), asText(observed)];
      checks.push({ what, expected: wanted, observed: found, ok: ok ?? wanted === found });
    },
    note: (name, value) => void (evidence[name] = value),
    whileHeld: (table, work) =>
      database.transaction(async ({ client }) => {
        await client.query(`lock table ${table} in share mode`);
        return work();
      }),
  };
}

async function perform(house: House, name: string, drill: Drill): Promise<DrillReport> {
  const checks: Check[] = [];
  const evidence: Record<string, unknown> = {};
  const [startedAt, began] = [new Date().toISOString(), performance.now()];
  const stage = stageOf(house, checks, evidence);
  await drill.run(stage).catch((cause: unknown) => {
    const observed = cause instanceof Error ? cause.message : String(cause);
    stage.check("the drill runs to its end", { expected: "it does", observed });
  });
  for (const running of house.processes.splice(0)) await running.kill();
  return {
    drill: name,
    does: drill.does,
    lesson: drill.lesson,
    startedAt,
    tookMs: Math.round(performance.now() - began),
    asExpected: checks.length > 0 && checks.every(({ ok }) => ok),
    checks,
    evidence,
  };
}

/** Runs drills one after another on one database; tells of each once it is over. */
export async function runDrills(
  drills: Readonly<Record<string, Drill>>,
  tell: (report: DrillReport) => void,
): Promise<DrillReport[]> {
  const house = await openHouse();
  const reports: DrillReport[] = [];
  try {
    for (const [name, drill] of Object.entries(drills)) {
      const report = await perform(house, name, drill);
      reports.push(report);
      tell(report);
    }
    return reports;
  } finally {
    await house.close();
  }
}
