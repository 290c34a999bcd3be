// API, workflow and everything that is quick. Rendering is a process of its own (renderer.ts).
import { makeLog, openPlatform, runMain, runUntilSignal, start } from "tuntas";
import { listenAt } from "tuntas/fastify";
import { httpTarget } from "tuntas/outbox";
import { openCourt } from "./court.ts";
import evidence, { requesters } from "./evidence.ts";
import { makeServer } from "./server.ts";

runMain(async () => {
  const log = makeLog({ service: "evidence-package" });
  const court = process.env.COURT_URL ? undefined : await openCourt();
  const platform = await openPlatform({ name: "evidence-package", log });
  platform.targets.bind(requesters, httpTarget({ url: `${process.env.COURT_URL}/notices` }));
  const running = await start(evidence, { platform });
  const server = await makeServer(running);
  runUntilSignal(
    async () => {
      await server.drain();
      await server.close();
      await running.stop();
      await platform.close();
      await court?.server.close();
    },
    { log },
  );
  const at = { host: "127.0.0.1", port: Number(process.env.PORT || 8083), variable: "PORT" };
  const port = await listenAt(server, at);
  log.info({ event: "service.ready", port }, `evidence packages are made at http://127.0.0.1:${port}`);
});
