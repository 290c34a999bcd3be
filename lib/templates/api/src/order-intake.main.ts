// API and worker in one process. As two: start this one with `workers: false`, and as many of the other as the work needs.
import { makeLog, runMain, runUntilSignal, start } from "tuntas";
import { listenAt } from "tuntas/fastify";
import orderIntake from "./order-intake.ts";
import { makeServer } from "./order-intake.server.ts";

runMain(async () => {
  const log = makeLog({ service: "order-intake" });
  const running = await start(orderIntake, { name: "order-intake", log });
  const server = await makeServer(running);
  runUntilSignal(
    async () => {
      await server.drain(); // not ready any more, then no new requests
      await running.stop();
      await server.close();
    },
    { log },
  );
  const at = { host: process.env.HOST || "127.0.0.1", port: Number(process.env.PORT || 8080) };
  const port = await listenAt(server, { ...at, variable: "PORT" });
  log.info({ event: "service.ready", port }, `listens on http://${at.host}:${port}`);
});
