// Listening, with an error that says which variable to change.
import type { FastifyInstance } from "fastify";
import type { AddressInfo } from "node:net";
import { refuseUnknown, type NamesOf, type Served } from "tuntas";
import { httpErrors } from "./contract.ts";

export interface ListenAt {
  readonly port: number;
  readonly host: string;
  /** The environment variable that the port came from. */
  readonly variable: string;
}

/** A server that listens, as `runApp` serves it. */
export interface Listening extends Served {
  /** The port that it has: a free one where 0 was asked for. */
  readonly port: number;
  readonly url: string;
}

const placeNames: NamesOf<ListenAt> = { port: true, host: true, variable: true };

/** Listens. Errors: TUNTAS_HTTP_PORT_TAKEN. */
export async function listenAt(server: FastifyInstance, at: ListenAt): Promise<Listening> {
  refuseUnknown("listenAt", at, placeNames);
  const { port: wanted, host, variable } = at;
  try {
    await server.listen({ port: wanted, host });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "EADDRINUSE") throw cause;
    throw httpErrors.error(
      "TUNTAS_HTTP_PORT_TAKEN",
      `${host}:${wanted} is taken; set ${variable} to another port`,
      { cause, details: { variable, port: wanted } },
    );
  }
  const { port } = server.server.address() as AddressInfo;
  return {
    port,
    url: `http://${host.includes(":") ? `[${host}]` : host}:${port}`,
    // A server without the plugin has nothing to drain.
    drain: async () => server.hasDecorator("drain") && (await server.drain()),
    close: () => server.close(),
  };
}
