// API and worker in one process. In production the API is a process with `workers: false`.
import { runApp } from "tuntas";
import { listenAt } from "tuntas/fastify";
import exports from "./exports.ts";
import { makeServer } from "./server.ts";

const port = Number(process.env.PORT || 8084);

runApp(exports, {
  name: "report-export",
  serve: async (running) =>
    listenAt(await makeServer(running), { host: "127.0.0.1", port, variable: "PORT" }),
});
