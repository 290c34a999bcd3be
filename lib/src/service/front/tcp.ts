// Bytes as they come, one connection to one instance. Whoever keeps a connection keeps its instance, until that ends.
import { createServer, type Server, type Socket } from "node:net";
import type { Choice } from "./choice.ts";

/** Joins both, so that neither outlives the other. */
export function join(client: Socket, server: Socket): void {
  server.once("close", () => client.destroy()).on("error", () => client.destroy());
  client.once("close", () => server.destroy()).on("error", () => server.destroy());
  client.pipe(server);
  server.pipe(client);
}

export function makeTcpFront(choice: Choice): Server {
  async function pass(client: Socket): Promise<void> {
    client.on("error", () => client.destroy());
    const server = await choice.connection();
    if (!server) client.destroy();
    else if (client.destroyed) server.destroy();
    else join(client, server);
  }
  return createServer({ allowHalfOpen: true }, (client) => void pass(client));
}
