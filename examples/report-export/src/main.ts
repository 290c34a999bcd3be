// API and worker in one process. In production the API is a process with `workers: false`.
import { makeLog, openPlatform, runMain, runUntilSignal, start } from "tuntas";
import { listenAt } from "tuntas/fastify";
import { httpTarget } from "tuntas/outbox";
import exports, { requesters } from "./exports.ts";
import { makeServer } from "./server.ts";

runMain(async () => {
  const log = makeLog({ service: "report-export" });
  const platform = await openPlatform({ name: "report-export", log });
  // Where requesters are told; unset, announcements wait.
  const { REQUESTERS_URL: url } = process.env;
  if (url) platform.targets.bind(requesters, httpTarget({ url }));
  const running = await start(exports, { platform });
  const server = await makeServer(running);
  runUntilSignal(
    async () => {
      await server.drain();
      await server.close();
      await running.stop();
      await platform.close();
    },
    { log },
  );
  const at = { host: "127.0.0.1", port: Number(process.env.PORT || 8084), variable: "PORT" };
  const port = await listenAt(server, at);
  log.info({ event: "service.ready", port }, `reports are exported at http://127.0.0.1:${port}`);
});
