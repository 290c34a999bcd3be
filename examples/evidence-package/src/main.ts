// API, workflow and everything that is quick. Rendering is a process of its own (renderer.ts).
import { runApp } from "tuntas";
import { listenAt } from "tuntas/fastify";
import { openCourt } from "./court.ts";
import evidence from "./evidence.ts";
import { makeServer } from "./server.ts";

const port = Number(process.env.PORT || 8083);

runApp(evidence, {
  name: "evidence-package",
  before: () => process.env.COURT_URL || openCourt(),
  serve: async (running) =>
    listenAt(await makeServer(running), { host: "127.0.0.1", port, variable: "PORT" }),
});
