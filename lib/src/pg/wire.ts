// What of a connection the driver does not show: the stream under it.
import type pg from "pg";

interface Wire {
  readonly connection: { readonly stream: { cork(): void; uncork(): void; destroy(): void } };
}

export const streamOf = (client: pg.ClientBase): Wire["connection"]["stream"] =>
  (client as unknown as Wire).connection.stream;

/** Lets every statement that `ask` asks for go out in one write to the socket instead of one each. */
export function inOneWrite<T>(client: pg.ClientBase, ask: () => T): T {
  const stream = streamOf(client);
  stream.cork();
  try {
    return ask();
  } finally {
    stream.uncork();
  }
}

/** Closes a connection that may be in the middle of a statement; the pool would wait for its end. */
export function dropClient(client: pg.PoolClient): void {
  streamOf(client).destroy();
  client.release(true);
}
