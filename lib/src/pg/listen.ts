// One LISTEN connection a process. A notification only wakes somebody earlier; losing one, or all of them while the
// connection is being made anew, costs time and nothing else. Behind a transaction pooler there is none.
import type { Client } from "pg";
import type { Database } from "./database.ts";

export interface Listener {
  close(): Promise<void>;
}

export interface ListenOptions {
  readonly channels: readonly string[];
  /** Gets the channel (without the schema) and the payload. */
  readonly onNotify: (channel: string, payload: string) => void;
  /** Told after each new connection: what came in between was missed, so look everywhere once. */
  readonly onConnect: () => void;
}

const retryMs = 500;

export function listen(database: Database, options: ListenOptions): Listener {
  let closed = false;
  let client: Client | undefined;
  let timer: NodeJS.Timeout | undefined;

  function again(): void {
    client = undefined;
    if (!closed) timer = setTimeout(() => void connect(), retryMs);
  }

  async function connect(): Promise<void> {
    try {
      const made = await database.dedicatedClient();
      client = made;
      made.on("error", () => undefined);
      made.on("end", () => client === made && again());
      made.on("notification", ({ channel, payload }) => options.onNotify(channel.slice(channel.indexOf(".") + 1), payload ?? ""));
      for (const channel of options.channels) await made.query(`listen "${database.schema}.${channel}"`);
      if (closed) await made.end();
      else options.onConnect();
    } catch {
      await client?.end().catch(() => undefined);
      if (client === undefined || !closed) again();
    }
  }

  if (!database.pooled) void connect();
  return {
    async close() {
      closed = true;
      clearTimeout(timer);
      await client?.end().catch(() => undefined);
    },
  };
}
