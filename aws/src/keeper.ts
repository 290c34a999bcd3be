// Keeps what this process works on hidden from others. That is done by a thread of its own, so that a handler that blocks
// the event loop does not lose its messages within its time, and does not keep them beyond it.
import { Worker } from "node:worker_threads";
import type { Held, ServiceParts } from "tuntas/queue/remote";
import type { ClientOptions } from "./client.ts";

/** What the thread gets to know at its start. */
export interface KeeperData extends ClientOptions {
  readonly slots: SharedArrayBuffer;
  readonly leaseMs: number;
}

export type KeeperOrder =
  | { readonly kind: "hold"; readonly url: string; readonly held: readonly Held[] }
  | { readonly kind: "drop"; readonly fences: readonly string[] }
  | { readonly kind: "close" };

export type KeeperReport = { readonly kind: "failed"; readonly message: string };

export interface Keeper {
  hold(url: string, held: readonly Held[]): void;
  drop(fence: string): void;
  close(): Promise<void>;
}

// Workers cannot load TypeScript; in the tests this file is TypeScript and the thread comes from the build.
const threadFile = new URL(
  import.meta.url.endsWith(".ts") ? "../dist/keeper-thread.js" : "./keeper-thread.js",
  import.meta.url,
);

export function startKeeper({ slots, log }: ServiceParts, data: Omit<KeeperData, "slots">): Keeper {
  const thread = new Worker(threadFile, { workerData: { ...data, slots } satisfies KeeperData });
  const exited = new Promise<void>((resolve) => thread.once("exit", () => resolve()));
  const order = (given: KeeperOrder) => thread.postMessage(given);
  let dropped: string[] = [];

  thread.unref();
  thread.on("message", ({ message }: KeeperReport) =>
    log.warn({ message }, "could not keep messages hidden"),
  );
  thread.on("error", (cause) =>
    log.error(
      { cause },
      "nobody keeps messages hidden any more; what takes longer than its lease comes twice",
    ),
  );

  function dropAll(): void {
    order({ kind: "drop", fences: dropped });
    dropped = [];
  }

  return {
    hold: (url, held) => order({ kind: "hold", url, held }),
    // Those of one turn together: a message to the thread costs more than what is in it.
    drop(fence) {
      if (dropped.push(fence) === 1) setImmediate(dropAll);
    },
    async close() {
      order({ kind: "close" });
      await exited;
    },
  };
}
