// Waiting for executions to end: those that end here are told of at once, those that end in another process are seen
// by one statement a second for all that anybody waits for.
import type { Sql } from "../../pg/contract.ts";
import { findEnded, type Ended } from "../store/executions.ts";

export interface Endings {
  /** Resolves when the execution has ended; rejects when the signal aborts. */
  wait(executionId: string, signal: AbortSignal): Promise<Ended>;
  /** An execution has ended here. */
  tell(executionId: string): void;
  close(): void;
}

const pollMs = 1000;
const batch = 1000;

export function makeEndings(database: Pick<Sql, "run">, onError: (cause: unknown) => void): Endings {
  const waiting = new Map<string, Set<(ended: Ended) => void>>();
  let told = new Set<string>();
  let looking = false;

  async function look(ids: readonly string[]): Promise<void> {
    for (const ended of await findEnded(database, ids)) {
      const all = waiting.get(ended.id);
      waiting.delete(ended.id);
      all?.forEach((resolve) => resolve(ended));
    }
  }

  async function lookAtTold(): Promise<void> {
    if (looking) return;
    looking = true;
    while (told.size > 0) {
      const ids = [...told];
      told = new Set();
      await look(ids).catch(onError);
    }
    looking = false;
  }

  async function poll(): Promise<void> {
    const ids = [...waiting.keys()];
    for (let at = 0; at < ids.length; at += batch) await look(ids.slice(at, at + batch)).catch(onError);
  }

  const timer = setInterval(() => void (waiting.size > 0 && poll()), pollMs);
  timer.unref();

  const tell = (executionId: string) => {
    if (!waiting.has(executionId)) return;
    told.add(executionId);
    void lookAtTold();
  };

  return {
    tell,
    close: () => clearInterval(timer),
    wait: (executionId, signal) =>
      new Promise((resolve, reject) => {
        const all = waiting.get(executionId) ?? new Set();
        const done = (ended: Ended) => {
          signal.removeEventListener("abort", abort);
          resolve(ended);
        };
        const abort = () => {
          all.delete(done);
          if (all.size === 0 && waiting.get(executionId) === all) waiting.delete(executionId);
          reject(signal.reason as Error);
        };
        waiting.set(executionId, all.add(done));
        signal.addEventListener("abort", abort, { once: true });
        // It may have ended before anybody waited.
        tell(executionId);
      }),
  };
}
