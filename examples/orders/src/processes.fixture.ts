// The API and the worker as they are run in production, on a database of their own, and what a customer asks of them.
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { testDatabase, type TestDatabase, type TestProcess } from "tuntas/testing";

export type Environment = Readonly<Record<string, string | undefined>>;

/** A database on the test server, and the processes that use it; all gone when it is disposed of. */
export interface OrdersHouse extends TestDatabase {
  /** A running API, and its address. */
  api(env?: Environment): Promise<TestProcess & { readonly url: string }>;
  worker(env?: Environment): Promise<TestProcess>;
}

export const built = (path: string): URL => new URL(`../dist/${path}`, import.meta.url);

export async function openHouse(): Promise<OrdersHouse> {
  const database = await testDatabase();
  return {
    ...database,
    async api(env) {
      const running = database.run(built("api.js"), env);
      const { port } = await running.line("service.ready");
      return { ...running, url: `http://127.0.0.1:${port as number}` };
    },
    async worker(env) {
      const running = database.run(built("worker.js"), env);
      await running.line("service.ready");
      return running;
    },
  };
}

export interface Accepted {
  readonly orderId: string;
  readonly status: string;
}

export const post = (url: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${url}/orders`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });

export const place = async (url: string, customerId = "cust_1"): Promise<Accepted> =>
  (await (await post(url, { customerId })).json()) as Accepted;

export const statusOf = async (url: string, orderId: string): Promise<string> =>
  ((await (await fetch(`${url}/orders/${orderId}`)).json()) as Accepted).status;

/** Looks until it is so; for what only the database can tell. */
export async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(20);
}

export interface FreezableDatabase {
  readonly url: string;
  /** From now on nothing passes: connections stay open and say nothing. */
  freeze(): void;
  thaw(): void;
  close(): void;
}

/** A database as it looks when its machine hangs. */
export async function freezable(databaseUrl: string): Promise<FreezableDatabase> {
  const target = new URL(databaseUrl);
  const { port, hostname } = target;
  const pairs = new Set<readonly [Socket, Socket]>();
  let frozen = false;
  const hold = ([here, there]: readonly [Socket, Socket]) =>
    [here, there].forEach((socket) => (frozen ? socket.pause() : socket.resume()));
  const server = createServer((here) => {
    const there = connect(Number(port), hostname);
    const pair = [here, there] as const;
    pairs.add(pair);
    for (const [from, to] of [
      [here, there],
      [there, here],
    ] as const) {
      from.on("data", (chunk) => to.write(chunk));
      from.on("error", () => to.destroy());
      from.on("close", () => to.destroy());
    }
    hold(pair);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  target.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const set = (value: boolean) => {
    frozen = value;
    pairs.forEach(hold);
  };
  return {
    url: target.href,
    freeze: () => set(true),
    thaw: () => set(false),
    close() {
      server.close();
      for (const pair of pairs) pair.forEach((socket) => socket.destroy());
    },
  };
}
