// API, worker and a post office in one process, beside other applications on a platform that is open already.
import { start, type Platform } from "tuntas";
import { listenAt, type ListenAt } from "tuntas/fastify";
import cases from "./cases.ts";
import { openPostOffice } from "./post-office.ts";
import { makeServer } from "./server.ts";

export interface RunningCases {
  readonly port: number;
  stop(): Promise<void>;
}

/** Starts them on a platform that the caller opened and closes. Errors: TUNTAS_HTTP_PORT_TAKEN. */
export async function startCases(platform: Platform, at: ListenAt): Promise<RunningCases> {
  let apiUrl: string | undefined;
  const office = await openPostOffice({ database: platform.database, receiptsUrl: () => apiUrl });
  const running = await start(cases, { platform });
  const api = await listenAt(await makeServer(running), at);
  apiUrl = api.url;
  return {
    port: api.port,
    async stop() {
      await api.drain?.();
      await running.stop();
      await Promise.all([api.close(), office.close()]);
    },
  };
}
