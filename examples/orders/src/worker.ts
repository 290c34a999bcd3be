// The worker as a process of its own: start as many as the backlog needs.
import Fastify from "fastify";
import { runApp } from "tuntas";
import { listenAt, tuntasHttp } from "tuntas/fastify";
import { workerConfig } from "./config.ts";
import orders from "./orders.ts";

runApp(orders, {
  name: "orders-worker",
  async serve(running) {
    const { adminPort: port } = workerConfig();
    if (port === undefined) return undefined;
    const admin = Fastify();
    await admin.register(tuntasHttp, { platform: running.platform, running });
    return listenAt(admin, { host: "127.0.0.1", port, variable: "APP_ADMIN_PORT" });
  },
});
