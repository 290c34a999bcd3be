// The connection between an attached process and the supervisor: TCP on 127.0.0.1, lines of JSON. The process says
// the token; the supervisor says at once that it is there, and how the server is as soon as that is known. From then
// on only the connection's being open counts. The kernel closes it with the process, however that ends.
import { createConnection, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { createInterface, type Interface } from "node:readline";

/** What the supervisor says: it is at it, the server is ready, or it could not be started. */
export type Greeting =
  | { readonly kind: "starting" }
  | { readonly kind: "ready"; readonly url: string; readonly version: string }
  | { readonly kind: "failed"; readonly code: string; readonly message: string };

export interface ControlServer {
  readonly port: number;
  close(): void;
}

/** Calls `onAttach` for every connection that knows the token; others are cut. */
export async function serveControl(
  token: string,
  onAttach: (socket: Socket) => void,
): Promise<ControlServer> {
  const server = createServer((socket) => {
    linesOf(socket).once("line", (line) => (line === token ? onAttach(socket) : socket.destroy()));
  });
  await listen(server);
  return { port: (server.address() as AddressInfo).port, close: () => server.close() };
}

/** A broken connection is like a closed one; readline repeats the socket's error as its own. */
function linesOf(socket: Socket): Interface {
  socket.on("error", () => socket.destroy());
  return createInterface(socket).on("error", () => socket.destroy());
}

function listen(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port: 0, host: "127.0.0.1", exclusive: true }, resolve);
  });
}

export const greet = (socket: Socket, greeting: Greeting): void =>
  void socket.write(JSON.stringify(greeting) + "\n");

export interface Connection {
  readonly socket: Socket;
  readonly greeting: Exclude<Greeting, { kind: "starting" }>;
}

/** A stranger who was given the supervisor's old port does not know what to say; this long he is listened to. */
const firstWordMs = 5_000;

/** Connects and waits for the greeting; undefined if nobody is there, or whoever is there hangs up. */
export function connectControl(port: number, token: string): Promise<Connection | undefined> {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: "127.0.0.1" }, () => socket.write(token + "\n"));
    socket.setTimeout(firstWordMs, () => socket.destroy());
    socket.once("close", () => resolve(undefined));
    linesOf(socket).on("line", (line) => {
      const greeting = parseGreeting(line);
      if (greeting === undefined) return socket.destroy();
      socket.setTimeout(0);
      if (greeting.kind !== "starting") resolve({ socket, greeting });
    });
  });
}

function parseGreeting(line: string): Greeting | undefined {
  try {
    return JSON.parse(line) as Greeting;
  } catch {
    return undefined;
  }
}
