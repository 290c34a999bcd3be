// Sending notifications: many that are asked for together become one statement, on a connection of its own whose
// commits wait for no disk (a notification is not durable anyway). In each sender's own commit they would serialise all
// commits of the server: 9,400 to 14,300 commits/s fall to 3,500 to 4,600.
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import type { Database } from "./database.ts";

export interface Notifier {
  /** Notifies the channel (without the schema) once for each distinct payload, soon. */
  notify(channel: string, payload: string): void;
  close(): Promise<void>;
}

// The first notification goes out at once. In a busy process the next ones gather this long: without it, every shared
// commit of sends has a statement for its notification, which costs the process as much as the commit itself.
const pauseMs = 3;

export function makeNotifier(database: Database): Notifier {
  const pool = new pg.Pool({
    connectionString: database.url,
    application_name: "tuntas notify",
    max: 1,
    keepAlive: true,
    idleTimeoutMillis: 0,
    ...(database.pooled ? {} : { options: "-c synchronous_commit=off" }),
  });
  pool.on("error", () => undefined);
  let pending = new Map<string, Set<string>>();
  let running: Promise<void> | undefined;

  async function flush(): Promise<void> {
    while (pending.size > 0) {
      const batch = pending;
      pending = new Map();
      const pairs = [...batch].flatMap(([channel, payloads]) =>
        [...payloads].map((payload) => [channel, payload] as const),
      );
      // A lost notification costs the receiver its next look, at most a second.
      await pool
        .query({
          ...(database.pooled ? {} : { name: "tuntas_notify" }),
          text: "select pg_notify(c, p) from unnest($1::text[], $2::text[]) as n(c, p)",
          values: [
            pairs.map(([channel]) => `${database.schema}.${channel}`),
            pairs.map(([, payload]) => payload),
          ],
        })
        .catch(() => undefined);
      await delay(pauseMs);
    }
    running = undefined; // here and not in a later microtask: what is asked for in between would wait for the next one
  }

  return {
    notify(channel, payload) {
      const payloads = pending.get(channel) ?? new Set();
      pending.set(channel, payloads.add(payload));
      running ??= Promise.resolve().then(flush);
    },
    async close() {
      await running;
      await pool.end();
    },
  };
}
