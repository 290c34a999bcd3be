import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import pg from "pg";
import { expect, test } from "vitest";
import { openDatabase } from "./database.ts";
import { isConnectionLost, isTransient, toCoded } from "./faults.ts";

test.each([
  [
    "a refused connection",
    Object.assign(new Error("connect"), { code: "ECONNREFUSED" }),
    "TUNTAS_DATABASE_UNREACHABLE",
  ],
  [
    "a pool that waited in vain",
    new Error("timeout exceeded when trying to connect"),
    "TUNTAS_CONNECTIONS_OUT",
  ],
  [
    "a server that shuts down",
    Object.assign(new Error("terminating"), { code: "57P01" }),
    "TUNTAS_DATABASE_UNREACHABLE",
  ],
  ["a deadlock", Object.assign(new Error("deadlock"), { code: "40P01" }), "TUNTAS_DATABASE_BUSY"],
  ["too many connections", Object.assign(new Error("sorry"), { code: "53300" }), "TUNTAS_DATABASE_FULL"],
])("%s is transient, as the driver tells it and as we code it", (_, cause, code) => {
  const coded = toCoded(cause);
  expect(coded).toMatchObject({ code, retryable: true });
  expect([isTransient(cause), isTransient(coded)]).toEqual([true, true]);
  expect(isConnectionLost(coded)).toBe(isConnectionLost(cause));
  expect(toCoded(coded)).toBe(coded);
});

test("a unique violation and an error of anybody else's are not", () => {
  for (const cause of [Object.assign(new Error("twice"), { code: "23505" }), new Error("no")]) {
    expect(isTransient(cause)).toBe(false);
    expect(toCoded(cause)).toBe(cause);
  }
});

test("a start without a database says which one it looked for, and not its password", async () => {
  const cause: unknown = await openDatabase({ url: "postgres://ana:secret@127.0.0.1:1/orders" }).catch(
    (error: unknown) => error,
  );
  expect(cause).toMatchObject({
    code: "TUNTAS_DATABASE_UNREACHABLE",
    message:
      "no PostgreSQL answers at 127.0.0.1:1 (database orders, user ana): connect ECONNREFUSED 127.0.0.1:1",
    remedy: expect.stringContaining("A process that starts: nothing was begun"),
  });
});

test("a server that takes a connection and never answers is not reachable, for a client and for a pool", async () => {
  const silent = createServer((socket) => socket.resume()).listen(0, "127.0.0.1");
  await once(silent, "listening");
  const config = {
    host: "127.0.0.1",
    port: (silent.address() as AddressInfo).port,
    connectionTimeoutMillis: 50,
  };
  const pool = new pg.Pool(config);
  for (const connect of [() => new pg.Client(config).connect(), () => pool.connect()]) {
    const cause: unknown = await connect().catch((error: unknown) => error);
    expect(cause).toBeInstanceOf(Error);
    expect(isConnectionLost(cause)).toBe(true);
    expect(toCoded(cause)).toMatchObject({ code: "TUNTAS_DATABASE_UNREACHABLE" });
  }
  await pool.end();
  await new Promise((resolve) => silent.close(resolve));
});
