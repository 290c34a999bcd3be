// What each tenant uses: attempts of workers and requests, and the time that they took, kept by day, so that what it costs can be
// divided. Counted in memory, written every ten seconds for all of the process in one statement. Tenants are rows here and no labels of a
// metric, whose number would have no bound.
import { randomUUID } from "node:crypto";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Log } from "../../engine/log.ts";
import { channelName } from "../../engine/signals.ts";
import type { Sql } from "../../pg/contract.ts";
import { addUsage, type Counted, type Used } from "./store.ts";

export { readUsage, type Usage, type UsageQuery } from "./store.ts";

const everyMs = 10_000;
// What somebody sends may name anything: past so many between two writes the rest are counted together.
const countsMax = 50_000;
export const others = "(others)";

interface Ended {
  readonly durationMs: number;
  readonly tenant?: string;
}

const works = {
  [channelName("worker.attempt")]: ({ queue }: { queue: string }) => queue,
  [channelName("http.request")]: ({ service }: { service: string }) => `http ${service}`,
};

export interface UsageCounter {
  /** Writes what was counted and not yet written. */
  flush(): Promise<void>;
  /** Counts nothing more, and writes the rest. */
  close(): Promise<void>;
}

export interface UsageOptions {
  readonly database: Pick<Sql, "run">;
  readonly log: Pick<Log, "warn">;
}

/** What was used of each work by each tenant; a look-up of two levels makes no new text. */
function makeLedger() {
  const byWork = new Map<string, Map<string, Used>>();
  let size = 0;

  function find(work: string, tenant: string): Used {
    const tenants = byWork.get(work) ?? new Map<string, Used>();
    byWork.set(work, tenants);
    const known = tenants.get(tenant);
    if (known) return known;
    if (size >= countsMax && tenant !== others && tenant !== "") return find(work, others);
    const made = { work, tenant, uses: 0, seconds: 0 };
    tenants.set(tenant, made);
    size++;
    return made;
  }
  return { find, all: () => [...byWork.values()].flatMap((tenants) => [...tenants.values()]) };
}

export function startUsage({ database, log }: UsageOptions): UsageCounter {
  let ledger: ReturnType<typeof makeLedger> | undefined;
  /** Sent, and no answer came: it may be written already, and is sent again as it was before anything else is. */
  let unsure: Counted | undefined;
  let timer: NodeJS.Timeout | undefined;
  let tail: Promise<void> = Promise.resolve();

  function soon(): void {
    timer ??= setTimeout(() => void flush(), everyMs).unref();
  }

  function begin() {
    soon();
    return (ledger = makeLedger());
  }

  const listeners = Object.entries(works).map(([channel, workOf]) => {
    const hear = (message: unknown): void => {
      const { durationMs, tenant = "" } = message as Ended;
      const found = (ledger ?? begin()).find(workOf(message as never), tenant);
      found.uses++;
      found.seconds += durationMs / 1000;
    };
    subscribe(channel, hear);
    return { channel, hear };
  });

  /** What is to be written next; undefined where there is nothing. */
  function next(): Counted | undefined {
    if (unsure || !ledger) return unsure;
    const used = ledger.all();
    ledger = undefined;
    return { id: randomUUID(), used };
  }

  async function send(): Promise<void> {
    unsure = next();
    if (unsure) await addUsage(database, unsure);
    unsure = undefined;
  }

  async function write(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    try {
      if (unsure) await send();
      await send();
    } catch (cause) {
      log.warn({ cause }, "what tenants used could not be written and will be tried again");
      soon();
    }
  }

  /** One write after another. */
  const flush = (): Promise<void> => (tail = tail.then(write));

  return {
    flush,
    async close() {
      for (const { channel, hear } of listeners) unsubscribe(channel, hear);
      await flush();
      clearTimeout(timer);
    },
  };
}
