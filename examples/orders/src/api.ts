// The API as a process of its own: sends, never works.
import { makeLog, openPlatform, runMain, runUntilSignal, start } from "tuntas";
import { listenAt } from "tuntas/fastify";
import { apiConfig, databaseOptions } from "./config.ts";
import orders from "./orders.ts";
import { makeServer } from "./server.ts";

runMain(async () => {
  const log = makeLog({ service: "orders-api" });
  const platform = await openPlatform({ ...databaseOptions(), name: "orders-api", log });
  const running = await start(orders, { platform, workers: false });
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
  const { host, port } = apiConfig();
  const listening = await listenAt(server, { host, port, variable: "PORT" });
  log.info(
    { event: "service.ready", port: listening },
    `the orders API listens on http://${host}:${listening}`,
  );
});
