// Listening, with an error that says which variable to change.
import type { FastifyInstance } from "fastify";
import type { AddressInfo } from "node:net";
import { httpErrors } from "./contract.ts";

export interface ListenAt {
  readonly port: number;
  readonly host: string;
  /** The environment variable that the port came from. */
  readonly variable: string;
}

/** Listens; answers the port (a free one where 0 was asked for). Errors: TUNTAS_HTTP_PORT_TAKEN. */
export async function listenAt(server: FastifyInstance, { port, host, variable }: ListenAt): Promise<number> {
  try {
    await server.listen({ port, host });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "EADDRINUSE") throw cause;
    throw httpErrors.error(
      "TUNTAS_HTTP_PORT_TAKEN",
      `${host}:${port} is taken; set ${variable} to another port`,
      { cause, details: { variable, port } },
    );
  }
  return (server.server.address() as AddressInfo).port;
}
