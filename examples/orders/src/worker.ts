// The worker as a process of its own: start as many as the backlog needs.
import Fastify from "fastify";
import { makeLog, openPlatform, runMain, runUntilSignal, start } from "tuntas";
import { listenAt, tuntasHttp } from "tuntas/fastify";
import { databaseOptions, workerConfig } from "./config.ts";
import orders from "./orders.ts";

runMain(async () => {
  const log = makeLog({ service: "orders-worker" });
  const platform = await openPlatform({ ...databaseOptions(), name: "orders-worker", log });
  const running = await start(orders, { platform });
  const admin = Fastify();
  await admin.register(tuntasHttp, { platform, running });
  runUntilSignal(
    async () => {
      await running.stop();
      await admin.close();
      await platform.close();
    },
    { log },
  );
  const { adminPort } = workerConfig();
  const at = { host: "127.0.0.1", variable: "APP_ADMIN_PORT" };
  const port = adminPort === undefined ? undefined : await listenAt(admin, { ...at, port: adminPort });
  log.info({ event: "service.ready", port }, "the order worker works");
});
