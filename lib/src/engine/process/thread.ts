// The heartbeat thread as the event loop sees it: told whom it beats for, it says how that goes. A thread costs more
// than everything else that a process does to join the others, so one outlives its process's losses.
import { Worker } from "node:worker_threads";

/** The statements of the rooms that the thread runs where the event loop cannot. */
export interface ThreadTexts {
  /** Gives messages back. */
  readonly release: string;
  /** Then frees their FIFO groups. */
  readonly refresh: string;
  /** Says that nothing more is to be handed over to this process. */
  readonly withdraw: string;
  /** The last fence that anybody has been given. */
  readonly lastFence: string;
  /** What was handed over up to a fence, beside that with the fences that are known. */
  readonly unknown: string;
}

/** What the thread gets to know at its start. */
export interface HeartbeatData {
  readonly url: string;
  readonly schema: string;
  readonly pooled: boolean;
  readonly intervalMs: number;
  readonly leaseMs: number;
  readonly slots: SharedArrayBuffer;
  readonly texts: ThreadTexts;
  /** The agenda's columns of the beat's statement, and their parameters at the start. */
  readonly agendaColumns: string;
  readonly given: unknown[];
}

export type HeartbeatOrder =
  | { readonly kind: "be"; readonly processId: string }
  | { readonly kind: "give"; readonly given: unknown[] }
  | { readonly kind: "close" };

export type HeartbeatReport =
  | { readonly kind: "ready" }
  | { readonly kind: "beat"; readonly tookMs: number; readonly dead: string[]; readonly answers: unknown[] }
  | { readonly kind: "withdrawn" }
  | { readonly kind: "lost"; readonly reason: string };

export interface Hearing {
  /** `tookMs`: how long the database took for the beat's statement. */
  onBeat(dead: string[], answers: readonly unknown[], tookMs: number): void;
  /** Nothing is handed over to this process any more: its event loop was blocked. */
  onWithdrawn(): void;
  /** Whom it beat for is taken for dead; it waits to be told whom to beat for next. */
  onLost(reason: string): void;
  /** The thread itself has ended: it beats for nobody any more. */
  onBroken(reason: string): void;
}

export interface Thread {
  /** Beats for this process from now on. Resolves once its lock is held; rejects where it is lost before. */
  be(processId: string): Promise<void>;
  give(given: unknown[]): void;
  close(): Promise<void>;
}

const file = new URL(
  import.meta.url.endsWith(".ts") ? "../../../dist/engine/process/heartbeat.js" : "./heartbeat.js",
  import.meta.url,
);

export function startThread(data: HeartbeatData, hearing: Hearing): Thread {
  const worker = new Worker(file, { workerData: data, name: "tuntas-heartbeat" });
  worker.unref();
  const exited = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
  let waiting: { readonly ready: () => void; readonly fail: (cause: Error) => void } | undefined;
  const order = (message: HeartbeatOrder) => worker.postMessage(message);
  const end = (reason: string, tell: (reason: string) => void) => {
    tell(reason);
    waiting?.fail(new Error(reason));
  };
  worker.on("message", (report: HeartbeatReport) => {
    if (report.kind === "ready") waiting?.ready();
    else if (report.kind === "lost") end(report.reason, hearing.onLost);
    else if (report.kind === "withdrawn") hearing.onWithdrawn();
    else hearing.onBeat(report.dead, report.answers, report.tookMs);
  });
  worker.on("error", (cause) => end(String(cause), hearing.onBroken));
  return {
    be: (processId) =>
      new Promise((ready, fail) => {
        waiting = { ready, fail };
        order({ kind: "be", processId });
      }),
    give: (given) => order({ kind: "give", given }),
    async close() {
      order({ kind: "close" });
      await exited;
    },
  };
}
