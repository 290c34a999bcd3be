// What becomes of a request whose client has gone while the front still looked for an instance, and what an instance is told.
import { once } from "node:events";
import { createServer, request, type IncomingMessage, type Server } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { makeHttpFront } from "./http.ts";

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

const open: Server[] = [];
afterEach(() => open.splice(0).forEach((server) => server.close()));

async function listen(server: Server): Promise<Server> {
  open.push(server.listen(0, "127.0.0.1"));
  await once(server, "listening");
  return server;
}

/** A front that finds its instance when `find` is called. */
async function openFront() {
  const seen: IncomingMessage[] = [];
  const instance = await listen(
    createServer((incoming, response) => void (seen.push(incoming), response.end("done"))),
  );
  let find!: () => void;
  const found = new Promise<void>((resolve) => (find = resolve));
  let asked!: () => void;
  const waits = new Promise<void>((resolve) => (asked = resolve));
  let end!: () => void;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const front = await listen(
    makeHttpFront({
      async connection() {
        asked();
        await found;
        const socket = connect(portOf(instance), "127.0.0.1");
        await once(socket, "connect");
        void once(socket, "close").then(end);
        return socket;
      },
      close: async () => undefined,
    }),
  );
  return { front, seen, find, waits, ended };
}

test("a request whose client has gone before an instance was found reaches none", async () => {
  const { front, seen, find, waits, ended } = await openFront();
  const taken = once(front, "connection");
  const gone = request({ port: portOf(front), host: "127.0.0.1", method: "POST" });
  gone.on("error", () => undefined).flushHeaders();
  await waits;
  const [connection] = (await taken) as [Socket];
  gone.destroy();
  await new Promise((resolve) => connection.once("close", resolve));
  find();
  await ended;
  expect(seen).toEqual([]);
});

test("no client has the ends of its request taken out", async () => {
  const { front, seen, find } = await openFront();
  find();
  const connection = "close, content-length, transfer-encoding, host";
  const asked = request({
    port: portOf(front),
    host: "127.0.0.1",
    headers: { connection, "content-length": "5", host: "shop.example" },
  });
  const [answer] = await once(asked.end("12345"), "response");
  answer.resume();
  expect(answer.statusCode).toBe(200);
  expect(seen[0]!.headers).toMatchObject({ "content-length": "5", host: "shop.example" });
});

test("a WebSocket's instance is told whose it is too", async () => {
  const { front, seen, find } = await openFront();
  find();
  const headers = { connection: "Upgrade", upgrade: "echo", "x-forwarded-for": "192.0.2.7" };
  const [answer] = await once(request({ port: portOf(front), host: "127.0.0.1", headers }).end(), "response");
  answer.resume();
  expect(seen[0]!.headers["x-forwarded-for"]).toBe("192.0.2.7, 127.0.0.1");
});

test("an instance is told whose request it is, after what was said before", async () => {
  const { front, seen, find } = await openFront();
  find();
  const headers = {
    "x-forwarded-for": "192.0.2.7",
    host: "shop.example",
    connection: "close, x-hop",
    "x-hop": "1",
  };
  const [answer] = await once(request({ port: portOf(front), host: "127.0.0.1", headers }).end(), "response");
  answer.resume();
  expect(seen[0]!.headers).toMatchObject({ "x-forwarded-for": "192.0.2.7, 127.0.0.1", host: "shop.example" });
  expect(seen[0]!.headers).not.toHaveProperty("x-hop");
});
