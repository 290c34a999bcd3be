// Waiting for a connection ends: with one, or with an error that says what to do.
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { expect, test } from "vitest";
import { openDatabase } from "./database.ts";

const url = process.env.DATABASE_URL!;
const out = { code: "TUNTAS_CONNECTIONS_OUT", remedy: expect.stringContaining("ctx.tx"), retryable: true };

/** A way to the database that falls silent: whoever connects then is let in and never answered. */
async function blackHole() {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  let isSilent = false;
  const server = createServer((from) => {
    sockets.add(from.on("error", () => undefined));
    if (isSilent) return;
    const to = connect(Number(port), hostname).on("error", () => undefined);
    from.pipe(to).pipe(from);
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const through = new URL(url);
  through.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: through.href,
    silence: () => (isSilent = true),
    answer: () => (isSilent = false),
    [Symbol.dispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

test("behind a server that lets in and never answers, whoever waits is told in time, and served once it answers", async () => {
  using hole = await blackHole();
  const database = await openDatabase({ url: hole.url, handlerConnectionsMax: 2 });
  hole.silence();
  const asked = database.query("select 1");
  const waits = Array.from({ length: 5 }, () => database.handlerClient(1000));
  await Promise.all(waits.map((wait) => expect(wait).rejects.toMatchObject(out)));
  await expect(asked).rejects.toMatchObject({ code: "TUNTAS_DATABASE_UNREACHABLE" });
  hole.answer();
  const clients = await Promise.all([database.handlerClient(), database.handlerClient()]);
  expect((await clients[1]!.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  clients.forEach((client) => client.release());
  await database.close();
});

test("who holds a connection and waits for another ends with an error that says so, and leaves nothing taken", async () => {
  const database = await openDatabase({ url, handlerConnectionsMax: 2 });
  const held = [await database.handlerClient(), await database.handlerClient()];
  const seconds = await Promise.allSettled([database.handlerClient(200), database.handlerClient(200)]);
  for (const each of seconds) expect((each as PromiseRejectedResult).reason).toMatchObject(out);
  const third = database.handlerClient();
  held.forEach((client) => client.release());
  const again = [await third, await database.handlerClient(1000)];
  again.forEach((client) => client.release());
  await database.close();
});
