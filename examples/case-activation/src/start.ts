// API, worker and a post office in one process, for a laptop.
import { start, type Platform } from "tuntas";
import { listenAt } from "tuntas/fastify";
import cases from "./cases.ts";
import { makePostOffice } from "./post-office.ts";
import { makeServer } from "./server.ts";

export interface RunningCases {
  readonly port: number;
  stop(): Promise<void>;
}

export interface CasesOptions {
  readonly host: string;
  readonly port: number;
  /** The environment variable that the port came from. */
  readonly variable: string;
}

/** Starts them on a platform that the caller opened and closes. Errors: TUNTAS_HTTP_PORT_TAKEN. */
export async function startCases(platform: Platform, options: CasesOptions): Promise<RunningCases> {
  let apiUrl: string | undefined;
  const office = await makePostOffice({ database: platform.database, receiptsUrl: () => apiUrl });
  const officePort = await listenAt(office, { host: "127.0.0.1", port: 0, variable: "NOTICE_URL" });
  process.env.NOTICE_URL ||= `http://127.0.0.1:${officePort}`;
  const running = await start(cases, { platform });
  const server = await makeServer(running);
  const port = await listenAt(server, options);
  apiUrl = `http://127.0.0.1:${port}`;
  return {
    port,
    async stop() {
      await server.drain();
      await running.stop();
      await Promise.all([server.close(), office.close()]);
    },
  };
}
