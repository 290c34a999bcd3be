// HTTP, request by request: a client keeps its connection to the front through every deployment, and each request gets a
// connection of its own to an instance. No instance can close a connection just when a request is on its way to it.
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Choice } from "./choice.ts";
import { join } from "./tcp.ts";

const betweenNeighbours = ["connection", "keep-alive", "proxy-connection"];

/** By these an instance knows where a request ends and whom it is for: nobody may have them taken out. */
const framing: ReadonlySet<string> = new Set(["content-length", "transfer-encoding", "host"]);

/** What is between two neighbours and not passed on: these, and what `Connection` names (RFC 9110, 7.6.1). */
function hopByHop(connection = ""): ReadonlySet<string> {
  const named = connection.split(",").map((name) => name.trim().toLowerCase());
  return new Set([...betweenNeighbours, ...named.filter((name) => !framing.has(name))]);
}

/** Names and values in turn, as they came. */
function passedOn({ headers, rawHeaders: raw }: IncomingMessage): string[] {
  const hop = hopByHop(headers.connection);
  return raw.filter((_, index) => !hop.has(raw[index - (index % 2)]!.toLowerCase()));
}

/** Whose request it is: the last in the list of all such lines is whom this front has seen itself. */
const forwardedFor = ({ socket }: IncomingMessage): string[] => [
  "x-forwarded-for",
  socket.remoteAddress ?? "unknown",
];

function refuse(response: ServerResponse, status: 502 | 503): void {
  if (response.headersSent) return void response.destroy();
  response.writeHead(status, { ...(status === 503 && { "retry-after": "1" }) }).end();
}

async function pass(choice: Choice, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const socket = await choice.connection();
  if (!socket) return refuse(response, 503);
  // Nobody waits for the answer any more, and the rest of the request will not come.
  if (response.destroyed) return void socket.destroy();
  const { method, url: path } = incoming;
  const headers = [...passedOn(incoming), ...forwardedFor(incoming), "connection", "close"];
  const outgoing = request({ method, path, headers, setHost: false, createConnection: () => socket });
  outgoing.on("response", (answer) => {
    response.writeHead(answer.statusCode!, answer.statusMessage, passedOn(answer));
    answer.pipe(response);
    answer.on("error", () => response.destroy());
  });
  outgoing.on("error", () => refuse(response, 502));
  response.on("close", () => outgoing.destroy());
  incoming.pipe(outgoing);
}

/** A WebSocket, or whatever else the two agree upon: from here on bytes as they come. */
async function upgrade(
  choice: Choice,
  incoming: IncomingMessage,
  client: Socket,
  head: Buffer,
): Promise<void> {
  client.on("error", () => client.destroy());
  const server = await choice.connection();
  if (!server) return void client.destroy();
  const { method, url, rawHeaders } = incoming;
  const headers = [...rawHeaders, ...forwardedFor(incoming)];
  const lines = headers.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join("");
  server.write(`${method} ${url} HTTP/1.1\r\n${lines}\r\n`);
  server.write(head);
  join(client, server);
}

export function makeHttpFront(choice: Choice): Server {
  const server = createServer((incoming, response) => void pass(choice, incoming, response));
  return server.on(
    "upgrade",
    (incoming, client, head) => void upgrade(choice, incoming, client as Socket, head),
  );
}
