// The API as a process of its own: accepts and decides, carries no step out.
import { makeLog, openPlatform, runMain, runUntilSignal, start } from "tuntas";
import { listenAt } from "tuntas/fastify";
import cases from "./cases.ts";
import { databaseOptions, listenOptions } from "./config.ts";
import { makeServer } from "./server.ts";

runMain(async () => {
  const log = makeLog({ service: "cases-api" });
  const platform = await openPlatform({ ...databaseOptions(), name: "cases-api", log });
  const running = await start(cases, { platform, workers: false });
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
  const port = await listenAt(server, listenOptions());
  log.info({ event: "service.ready", port }, `the cases API listens on port ${port}`);
});
