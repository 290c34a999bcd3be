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
  /** Told when a connection that listened has ended. */
  readonly onLost: () => void;
}

const retryMs = 500;

export function listen(database: Database, options: ListenOptions): Listener {
  let closed = false;
  let client: Client | undefined;
  let timer: NodeJS.Timeout | undefined;

  /** Connects and listens until the connection ends, for whatever reason. */
  async function session(): Promise<void> {
    const made = await database.dedicatedClient();
    client = made;
    const ended = new Promise<void>((resolve) => made.once("end", resolve));
    let listens = false;
    made.on("notification", ({ channel, payload }) =>
      options.onNotify(channel.slice(channel.indexOf(".") + 1), payload ?? ""),
    );
    try {
      for (const channel of options.channels) await made.query(`listen "${database.schema}.${channel}"`);
      if (!closed) options.onConnect();
      listens = !closed;
    } catch {
      // A server that recovers refuses LISTEN; the next session tries again.
      void made.end().catch(() => undefined);
    }
    if (closed) void made.end().catch(() => undefined);
    await ended;
    if (listens) options.onLost();
  }

  async function keep(): Promise<void> {
    while (!closed) {
      await session().catch(() => undefined);
      if (!closed) await new Promise<void>((resolve) => (timer = setTimeout(resolve, retryMs)));
    }
  }

  if (!database.pooled) void keep();
  return {
    async close() {
      closed = true;
      clearTimeout(timer);
      await client?.end().catch(() => undefined);
    },
  };
}
