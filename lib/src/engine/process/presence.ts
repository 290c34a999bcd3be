// This process, as the others see it: one row, one heartbeat a second from a thread of its own (a handler that blocks
// the event loop does not stop it), and a session lock whose end tells of our death at once. The same statement looks
// for others that have died and for what is due next, so that an idle process costs one statement a second.
import { hostname } from "node:os";
import { Worker } from "node:worker_threads";
import type { Database } from "../../pg/database.ts";
import { statement } from "../../pg/database.ts";
import { agendaColumns, givenNow, type Agendum } from "../agenda.ts";
import type { SlotTable } from "./slots.ts";

export interface PresenceOptions {
  readonly database: Database;
  readonly name: string;
  readonly slots: SlotTable;
  /** Text of the statement that gives messages back; the thread runs it where the event loop is blocked. */
  readonly releaseText: string;
  /** Text of the statement that then frees their FIFO groups. */
  readonly refreshText: string;
  /** What the rooms want to know at each beat. */
  readonly agenda: readonly Agendum[];
  readonly onDead: (processIds: string[]) => void;
  /** We were taken for dead: nothing that this process holds is its own any more. */
  readonly onLost: (reason: string) => void;
}

export interface Presence {
  readonly processId: string;
  close(): Promise<void>;
}

/** What the thread gets to know at its start. */
export interface HeartbeatData {
  readonly url: string;
  readonly schema: string;
  readonly pooled: boolean;
  readonly processId: string;
  readonly intervalMs: number;
  readonly leaseMs: number;
  readonly slots: SharedArrayBuffer;
  readonly releaseText: string;
  readonly refreshText: string;
  /** The agenda's columns of the beat's statement, and their parameters at the start. */
  readonly agendaColumns: string;
  readonly given: unknown[];
}

export type HeartbeatOrder =
  { readonly kind: "give"; readonly given: unknown[] } | { readonly kind: "close" };

export type HeartbeatReport =
  | { readonly kind: "ready" }
  | { readonly kind: "beat"; readonly dead: string[]; readonly answers: unknown[] }
  | { readonly kind: "lost"; readonly reason: string };

/** The beat's own parameters, before those of the agenda. */
const beatParameters = 3;

export const heartbeatIntervalMs = 1000;
/** How long a process that the database does not hear of is still believed to live. */
export const leaseMs = 15_000;

const register = statement(
  `insert into tuntas.process (name, host, pid, version, started_at, heartbeat_at, expires_at)
   values ($1, $2, $3, $4, tuntas.now(), tuntas.now(), tuntas.now() + make_interval(secs => $5)) returning id::text`,
);

const unregister = statement(
  `delete from tuntas.process p where id = $1 and not exists (select from tuntas.held where owner_id = $1)
     and not exists (select from tuntas.workflow_call where owner_id = $1)`,
);

// Workers cannot load TypeScript; in the tests this file is TypeScript and the thread comes from the build.
const threadFile = new URL(
  import.meta.url.endsWith(".ts") ? "../../../dist/engine/process/heartbeat.js" : "./heartbeat.js",
  import.meta.url,
);

interface Thread {
  readonly worker: Worker;
  readonly exited: Promise<void>;
}

/** Tells the thread what to ask with at its next beat, where that is no longer what it has. */
function makeGiving(agenda: readonly Agendum[]) {
  const first = givenNow(agenda);
  let known = JSON.stringify(first);
  return {
    first,
    renew(thread: Worker): void {
      const given = givenNow(agenda);
      const text = JSON.stringify(given);
      if (text === known) return;
      known = text;
      thread.postMessage({ kind: "give", given } satisfies HeartbeatOrder);
    },
  };
}

async function startThread(options: PresenceOptions, processId: string): Promise<Thread> {
  const { database, slots } = options;
  const giving = makeGiving(options.agenda);
  const data: HeartbeatData = {
    url: database.url,
    schema: database.schema,
    pooled: database.pooled,
    processId,
    intervalMs: heartbeatIntervalMs,
    leaseMs,
    slots: slots.shared,
    releaseText: database.prepare({ name: "release", text: options.releaseText }).text,
    refreshText: database.prepare({ name: "refresh", text: options.refreshText }).text,
    agendaColumns: agendaColumns(options.agenda, beatParameters),
    given: giving.first,
  };
  const thread = new Worker(threadFile, { workerData: data, name: "tuntas-heartbeat" });
  thread.unref();
  const exited = new Promise<void>((resolve) => thread.once("exit", () => resolve()));
  await new Promise<void>((resolve, reject) => {
    thread.on("message", (report: HeartbeatReport) => {
      if (report.kind === "ready") resolve();
      else if (report.kind === "lost") {
        options.onLost(report.reason);
        reject(new Error(report.reason));
      } else {
        if (report.dead.length > 0) options.onDead(report.dead);
        options.agenda.forEach(({ hear }, index) => hear(report.answers[index]));
        giving.renew(thread);
      }
    });
    thread.on("error", (cause) => {
      options.onLost(String(cause));
      reject(cause);
    });
  });
  return { worker: thread, exited };
}

export async function startPresence(options: PresenceOptions): Promise<Presence> {
  const { database, name, slots } = options;
  const rows = await database.run<{ id: string }>(register, [
    name,
    hostname(),
    process.pid,
    process.version,
    leaseMs / 1000,
  ]);
  const processId = rows[0]!.id;
  const pulse = setInterval(() => slots.pulse(), 200);
  pulse.unref();
  const onLost = (reason: string) => {
    clearInterval(pulse);
    options.onLost(reason);
  };
  const thread = await startThread({ ...options, onLost }, processId);
  return {
    processId,
    async close() {
      clearInterval(pulse);
      thread.worker.postMessage({ kind: "close" } satisfies HeartbeatOrder);
      await thread.exited;
      await database.run(unregister, [processId]).catch(() => undefined);
    },
  };
}
