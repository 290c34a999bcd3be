// The API as a process of its own: accepts and decides, carries no step out.
import { runApp } from "tuntas";
import { listenAt } from "tuntas/fastify";
import cases from "./cases.ts";
import { listenOptions } from "./config.ts";
import { makeServer } from "./server.ts";

runApp(cases, {
  name: "cases-api",
  workers: false,
  serve: async (running) => listenAt(await makeServer(running), listenOptions()),
});
